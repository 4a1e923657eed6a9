export type { CoPlayerRows, FocalAnswer, LeafRows, SearchNetworks } from './networks';
export { allocateRows, observeRows, type RowObservations, seenStates } from './observe-rows';
export { resolveSearch, type SearchOptions, type SearchSettings } from './options';
export type { SearchRoots } from './roots';
export { createSearch, type TreeSearch } from './search';
export type { SearchResult } from './summarise';
