"""People's work in a campaign: panels that judge, annotation of texts, and answers to questions about texts."""
