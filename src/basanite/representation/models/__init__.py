"""Features from models: any layer, transformed inputs, and a curve over training."""
