/** onnxruntime-node, where it loads: tests that look at its sessions are skipped elsewhere. */
export const onnx = await import('onnxruntime-node').catch(() => undefined);

/** Added to the names of such tests. */
export const needsOnnx = onnx ? '' : ' (skipped: onnxruntime-node does not load here)';
