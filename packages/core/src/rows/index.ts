/*
 * Rows are a record of typed arrays [B, ...], the columns. Buffers hold them, networks read them.
 */
export { drawIndex, mean, nonZero, putSeat, seatRows, takeRows } from './columns';
export {
  allocateRows,
  checkRowSpec,
  concatRows,
  gatherInto,
  gatherRows,
  mapColumns,
  paddedCount,
  padRows,
  type RowSpec,
  reshapeRows,
  rowCount,
  rowSpecOf,
  sliceRows,
} from './rows';
