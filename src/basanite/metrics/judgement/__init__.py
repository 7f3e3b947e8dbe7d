"""What people judged, measured: readability against panels, agreement of judges, preferences between pairs."""
