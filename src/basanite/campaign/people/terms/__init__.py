"""What people and teams agreed to: rules they accepted, agreements they signed, resources they declared."""
