export type { CoPlayerRows, FocalAnswer, FocalRows, LeafRows, SearchNetworks } from './networks';
export { allocateRows, observeRows, type RowObservations, seenStates } from './observe-rows';
export { type RootNoise, resolveSearch, type SearchOptions, type SearchSettings } from './options';
export type { SearchRoots } from './roots';
export { createSearch, type SearchCounts, type TreeSearch } from './search';
export type { SearchResult } from './summarise';
