/** The version of @coplay/trainers, written into every checkpoint. */
export const LIBRARY_VERSION = '0.1.0';

/**
 * The version of the checkpoints that this library writes and reads. 2: names of co-players in states of DreamerV3.
 */
export const FORMAT_VERSION = 2;
