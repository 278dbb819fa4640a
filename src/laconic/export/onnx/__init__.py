"""Models as ONNX graphs, by themselves or inside pipelines."""
