export { constant, elements, GraphBuilder, indices, sameShape, scalar, uniformValue, type ValueSpec } from './builder';
export type { Attribute, Attributes, ConstantData, Graph, NamedValue, Node, Pass, Value, ValueType } from './graph';
export { countUses, type RewriteContext, type Rule, rewrite } from './rewrite';
export { reshape } from './shaping';
