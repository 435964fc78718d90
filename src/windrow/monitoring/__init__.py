"""What streams report, kept for a while: for the browser, Prometheus and OpenTelemetry."""
