"""A whole study of representations from one file: models, data sets, proxies, measures, correlations and a shift."""
