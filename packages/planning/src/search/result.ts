/** The result of a search for R roots. The arrays belong to the caller. */
export interface SearchResult {
  /** [R, K] the target for the actor; sums to 1, 0 where illegal */
  readonly policy: Float32Array;
  /**
   * [R, K] mean over trees of Q = W / N; for actions that a tree didn't try, the value of the option `unvisited`; 0
   * where illegal
   */
  readonly q: Float64Array;
  /** [R, K] visits, summed over trees */
  readonly visits: Int32Array;
  /** [R] mean over trees of the mean return of all simulations; of 0 simulations the critic's value */
  readonly values: Float64Array;
  /** [R] drawn from the policy at the option `temperature` */
  readonly actions: Int32Array;
}
