"""How well a model's features represent data: measuring passes, shift experiments, comparisons and a monitor."""
