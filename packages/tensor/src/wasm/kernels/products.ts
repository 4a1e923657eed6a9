import type { Code, Local } from '../assembler';
import type { Lowering } from '../lowering';
import type { Step } from '../steps';
import { type Dim, joined, type View } from '../views';
import { walk, wordOf } from './copies';

/** alpha a b + addend, for matrices or batches of them. */
export interface Product {
  /** [..., M, K] */
  readonly a: View;
  /** [..., K, N] */
  readonly b: View;
  /** [..., M, N] in order */
  readonly out: View;
  /** [..., M, N], repeated where its strides are 0 */
  readonly addend?: View | undefined;
  readonly alpha?: number;
  readonly isInteger?: boolean;
}

/** Vectors that a tile of the result keeps in registers. */
const ACCUMULATORS = 8;

/** From this K on, products of rows with rows are summed along K; below, the second operand is transposed first. */
const LONG_ROWS = 32;

/** The steps of a product. */
export function addProduct(product: Product, lowering: Lowering): void {
  const turned = product.out.dims.at(-1)!.size === 1 ? transposed(product) : product;
  const columnsA = turned.a.dims.at(-1)!;
  const [rowsB, columnsB] = turned.b.dims.slice(-2);
  const inner = columnsA.size;
  const isRowByRow = rowsB.stride === 1 && columnsA.stride === 1 && inner >= LONG_ROWS && !turned.isInteger;
  if (columnsB.stride === 1 || columnsB.size === 1) lowering.add(productStep(turned, lowering.isFused));
  else if (isRowByRow) lowering.add(rowProductStep(turned, lowering.isFused));
  else {
    const rank = turned.b.dims.length;
    const shape = turned.b.dims.map(({ size, stride }, axis) => (stride === 0 && axis < rank - 2 ? 1 : size));
    const once = { ...turned.b, dims: turned.b.dims.map((dim, i) => ({ ...dim, size: shape[i] })) };
    const packed = lowering.pack(once, { shape, dtype: 'float32' });
    const dims = packed.dims.map((dim, i) => (shape[i] === turned.b.dims[i].size ? dim : { ...turned.b.dims[i] }));
    lowering.add(productStep({ ...turned, b: { ...packed, dims } }, lowering.isFused));
  }
}

/** (b' a')': a column becomes a row, whose neighbours lie side by side. */
function transposed({ a, b, out, addend, ...rest }: Product): Product {
  const swap = (view: View): View => {
    const [rows, columns] = view.dims.slice(-2);
    return { ...view, dims: [...view.dims.slice(0, -2), columns, rows] };
  };
  return { a: swap(b), b: swap(a), out: swap(out), addend: addend && swap(addend), ...rest };
}

/** What the code of a product depends on. Strides are counted in numbers. */
interface Shape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: { readonly row: number; readonly column: number };
  readonly b: { readonly row: number; readonly column: number };
  readonly outRow: number;
  readonly addend: { readonly row: number; readonly column: number } | undefined;
  readonly alpha: number;
  readonly isInteger: boolean;
  readonly isFused: boolean;
}

function shapeOf({ a, b, out, addend, alpha = 1, isInteger = false }: Product, isFused: boolean): Shape {
  const last = ({ dims }: View) => ({ row: dims.at(-2)!.stride, column: dims.at(-1)!.stride });
  return {
    m: out.dims.at(-2)!.size,
    n: out.dims.at(-1)!.size,
    k: a.dims.at(-1)!.size,
    a: last(a),
    b: last(b),
    outRow: last(out).row,
    addend: addend && last(addend),
    alpha,
    isInteger,
    isFused,
  };
}

/** A step that calls `body` for each matrix of a batch. */
function batchStep(name: string, product: Product, shape: Shape, body: (code: Code, at: Pointers) => void): Step {
  const views = [product.a, product.b, ...(product.addend ? [product.addend] : []), product.out];
  const batch = joined(views.map(({ dims }) => dims.slice(0, -2)));
  return {
    key: `${name} ${JSON.stringify(shape)} of ${batch.map(wordOf).join(';')}`,
    reads: views.slice(0, -1),
    writes: [product.out],
    emit(code, pointers) {
      walk(code, batch, pointers, batch[0].length, () => {
        const [a, b, ...others] = pointers;
        body(code, { a, b, out: others.at(-1)!, addend: product.addend && others[0] });
      });
    },
  };
}

interface Pointers {
  readonly a: Local;
  readonly b: Local;
  readonly out: Local;
  readonly addend: Local | undefined;
}

/** Where b's rows lie in order: each vector of a row of the result adds up numbers of a times vectors of b. */
function productStep(product: Product, isFused: boolean): Step {
  const shape = shapeOf(product, isFused);
  return batchStep('product', product, shape, (code, at) => {
    const rows = Math.min(4, shape.m);
    const vectors = Math.max(2, Math.floor(ACCUMULATORS / rows));
    new Tiles(code, shape, at, new SpreadTile(code, shape)).emit(rows, 4 * vectors);
  });
}

/** Where rows of a are multiplied with rows of b, both in order along K. */
function rowProductStep(product: Product, isFused: boolean): Step {
  const shape = shapeOf(product, isFused);
  return batchStep('row product', product, shape, (code, at) => {
    new Tiles(code, shape, at, new RowTile(code, shape)).emit(2, 4);
  });
}

/** Computes one tile of the result; leaves the vectors of its rows in locals. */
interface Tile {
  /** @param start initial values, row by row; undefined for zeros */
  compute(rows: number, columns: number, a: Local, b: Local, start: readonly Local[] | undefined): Local[];
}

/** Walks through a result tile by tile. */
class Tiles {
  constructor(
    private readonly code: Code,
    private readonly shape: Shape,
    private readonly at: Pointers,
    private readonly tile: Tile,
  ) {}

  emit(rows: number, columns: number): void {
    const { code, shape, at } = this;
    code.scope(() => {
      const [b, out, addend] = [at.b, at.out, at.addend].map((pointer) => pointer && this.copy(pointer));
      this.inSteps(shape.n, columns, (width, isLast) => {
        this.band(width, rows, b!, out!, addend);
        if (isLast) return;
        code.advance(b!, 4 * width * shape.b.column);
        code.advance(out!, 4 * width);
        if (addend) code.advance(addend, 4 * width * shape.addend!.column);
      });
    });
  }

  /** All rows of some columns. */
  private band(width: number, rows: number, b: Local, out: Local, addend: Local | undefined): void {
    const { code, shape, at } = this;
    code.scope(() => {
      const [a, target, added] = [at.a, out, addend].map((pointer) => pointer && this.copy(pointer));
      this.inSteps(shape.m, rows, (height, isLast) => {
        code.scope(() => this.one(height, width, a!, b, target!, added));
        if (isLast) return;
        code.advance(a!, 4 * height * shape.a.row);
        code.advance(target!, 4 * height * shape.outRow);
        if (added) code.advance(added, 4 * height * shape.addend!.row);
      });
    });
  }

  private one(height: number, width: number, a: Local, b: Local, out: Local, addend: Local | undefined): void {
    const { code, shape } = this;
    const vectors = Math.ceil(width / 4);
    const isStart = addend && shape.alpha === 1;
    const start = isStart ? this.loaded(height, vectors, addend) : undefined;
    const sums = this.tile.compute(height, width, a, b, start);
    const added = addend && !isStart ? this.loaded(height, vectors, addend) : undefined;
    for (let row = 0; row < height; row++) {
      for (let i = 0; i < vectors; i++) {
        const sum = sums[row * vectors + i];
        if (shape.alpha !== 1) {
          code.get(sum);
          code.splat(shape.alpha);
          code.op('f32x4.mul');
          if (added) {
            code.get(added[row * vectors + i]);
            code.op('f32x4.add');
          }
          code.set(sum);
        }
        storeLanes(code, out, 4 * row * shape.outRow + 16 * i, sum, Math.min(4, width - 4 * i));
      }
    }
  }

  private loaded(height: number, vectors: number, addend: Local): Local[] {
    const { code } = this;
    const { row, column } = this.shape.addend!;
    const made: Local[] = [];
    for (let r = 0; r < height; r++) {
      for (let i = 0; i < vectors; i++) {
        code.get(addend);
        code.memory(column === 0 ? 'v128.load32_splat' : 'v128.load', 4 * r * row + 16 * i * column);
        made.push(code.keep('v128'));
      }
    }
    return made;
  }

  private copy(pointer: Local): Local {
    this.code.get(pointer);
    return this.code.keep('i32');
  }

  /** Calls `body` for every full step in a loop, then for the rest. */
  private inSteps(size: number, step: number, body: (size: number, isLast: boolean) => void): void {
    const full = Math.floor(size / step);
    const rest = size - full * step;
    if (full === 1) body(step, rest === 0);
    else if (full > 1) this.code.repeat(full, 1, () => body(step, false));
    if (rest > 0) body(rest, true);
  }
}

/** Stores the first lanes of a vector. */
export function storeLanes(code: Code, pointer: Local, offset: number, vector: Local, lanes: number): void {
  const push = (): void => {
    code.get(pointer);
    code.get(vector);
  };
  push();
  if (lanes === 4) {
    code.memory('v128.store', offset);
    return;
  }
  if (lanes === 1) {
    code.storeLane('v128.store32_lane', offset, 0);
    return;
  }
  code.storeLane('v128.store64_lane', offset, 0);
  if (lanes === 2) return;
  push();
  code.storeLane('v128.store32_lane', offset + 8, 2);
}

/** Vectors along N. */
class SpreadTile implements Tile {
  constructor(
    private readonly code: Code,
    private readonly shape: Shape,
  ) {}

  compute(rows: number, columns: number, a: Local, b: Local, start: readonly Local[] | undefined): Local[] {
    const { code, shape } = this;
    const vectors = Math.ceil(columns / 4);
    const sums = start ? [...start] : zeros(code, rows * vectors);
    const turn = (readA: Local, readB: Local): void => {
      code.scope(() => {
        const loaded = Array.from({ length: vectors }, (_, i) => {
          code.get(readB);
          code.memory(shape.n === 1 ? 'v128.load32_splat' : 'v128.load', 16 * i);
          return code.keep('v128');
        });
        for (let row = 0; row < rows; row++) {
          code.get(readA);
          code.memory('v128.load32_splat', 4 * row * shape.a.row);
          const factor = code.keep('v128');
          loaded.forEach((vector, i) => {
            const sum = sums[row * vectors + i];
            code.get(factor);
            code.get(vector);
            if (shape.isInteger) {
              code.op('i32x4.mul');
              code.get(sum);
              code.op('i32x4.add');
            } else code.multiplyAdd(() => code.get(sum));
            code.set(sum);
          });
        }
      });
    };
    loopOverK(code, shape.k, { a, b, stepA: 4 * shape.a.column, stepB: 4 * shape.b.row }, turn);
    return sums;
  }
}

/** Vectors along K, whose lanes are added up at the end. */
class RowTile implements Tile {
  constructor(
    private readonly code: Code,
    private readonly shape: Shape,
  ) {}

  compute(rows: number, columns: number, a: Local, b: Local, start: readonly Local[] | undefined): Local[] {
    const { code, shape } = this;
    const sums = zeros(code, rows * columns);
    const turn = (readA: Local, readB: Local, lanes = 4): void => {
      code.scope(() => {
        const load = (pointer: Local, row: number): Local => {
          code.get(pointer);
          code.memory('v128.load', 4 * row);
          if (lanes < 4) {
            code.lanes(-1, lanes > 1 ? -1 : 0, lanes > 2 ? -1 : 0, 0);
            code.op('v128.and');
          }
          return code.keep('v128');
        };
        const left = Array.from({ length: rows }, (_, row) => load(readA, row * shape.a.row));
        for (let column = 0; column < columns; column++) {
          code.scope(() => {
            const right = load(readB, column * shape.b.column);
            left.forEach((factor, row) => {
              const sum = sums[row * columns + column];
              code.get(factor);
              code.get(right);
              code.multiplyAdd(() => code.get(sum));
              code.set(sum);
            });
          });
        }
      });
    };
    const full = Math.floor(shape.k / 4);
    const pointers = loopOverK(code, full, { a, b, stepA: 16, stepB: 16 }, turn);
    if (shape.k % 4 > 0) turn(pointers.a, pointers.b, shape.k % 4);
    return Array.from({ length: rows }, (_, row) => {
      const four = [0, 1, 2, 3].map((i) => sums[row * columns + Math.min(i, columns - 1)]);
      addLanes(code, four as [Local, Local, Local, Local]);
      if (start) {
        code.get(start[row]);
        code.op('f32x4.add');
      }
      return code.keep('v128');
    });
  }
}

/** Leaves on the stack: the sums of each vector's lanes. */
function addLanes(code: Code, [p, q, r, s]: readonly [Local, Local, Local, Local]): void {
  const pair = (x: Local, y: Local): Local => {
    code.get(x);
    code.get(y);
    code.shuffle(0, 4, 1, 5);
    code.get(x);
    code.get(y);
    code.shuffle(2, 6, 3, 7);
    code.op('f32x4.add');
    return code.keep('v128');
  };
  const [first, second] = [pair(p, q), pair(r, s)];
  code.get(first);
  code.get(second);
  code.shuffle(0, 1, 4, 5);
  code.get(first);
  code.get(second);
  code.shuffle(2, 3, 6, 7);
  code.op('f32x4.add');
}

function zeros(code: Code, count: number): Local[] {
  return Array.from({ length: count }, () => {
    code.splat(0);
    return code.keep('v128');
  });
}

/**
 * Calls `turn` for k = 0 to count - 1: in a loop whose turns do one k each, since with more of them V8 keeps so many
 * loaded vectors that sums leave their registers, and products take twice the time.
 *
 * @returns pointers behind the last k
 */
function loopOverK(
  code: Code,
  count: number,
  { a, b, stepA, stepB }: { readonly a: Local; readonly b: Local; readonly stepA: number; readonly stepB: number },
  turn: (a: Local, b: Local) => void,
): { readonly a: Local; readonly b: Local } {
  const [readA, readB] = [a, b].map((pointer) => {
    code.get(pointer);
    return code.keep('i32');
  });
  if (count === 0) return { a: readA, b: readB };
  if (stepB === 0) {
    // The same row of b again and again: its pointer can't tell the end.
    code.repeat(count, 1, () => {
      turn(readA, readB);
      code.advance(readA, stepA);
    });
    return { a: readA, b: readB };
  }
  code.get(b);
  code.i32(count * stepB);
  code.op('i32.add');
  const end = code.keep('i32');
  code.loop(() => {
    turn(readA, readB);
    code.advance(readA, stepA);
    code.advance(readB, stepB);
    code.get(readB);
    code.get(end);
    code.op('i32.ne');
  });
  return { a: readA, b: readB };
}

/** The axes of a matrix, transposed if asked. */
export function matrixView(view: View, isTransposed: boolean): View {
  if (!isTransposed) return view;
  const [rows, columns] = view.dims.slice(-2) as [Dim, Dim];
  return { ...view, dims: [...view.dims.slice(0, -2), columns, rows] };
}
