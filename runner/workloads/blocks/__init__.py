"""What several models share, twins side by side: perceptron, attention, residual networks,
classifiers of images. Used by `models/`, and by `adapters/` for its classifiers."""
