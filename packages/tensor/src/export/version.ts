/** The version of @coplay/tensor, written into every exported file. */
export const TENSOR_VERSION = '0.1.0';
