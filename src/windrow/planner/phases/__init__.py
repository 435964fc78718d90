"""The phases of plans: the work of each stage, by the papers' terms and this runtime's constants.

Spark runs one stage after the other. Each has its total work and the share of its busiest worker.
"""
