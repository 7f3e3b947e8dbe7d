"""From a model and data to features: layers of models, folders of weights, folders of inputs, files of features."""
