"""Commands about data sets, queries and domains."""
