/** The version of @coplay/trainers, written into every checkpoint. */
export const LIBRARY_VERSION = '0.1.0';

/** The version of the checkpoint's form that this library writes. It reads those up to it. */
export const FORMAT_VERSION = 1;
