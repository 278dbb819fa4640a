"""Models as ONNX graphs, also inside pipelines."""
