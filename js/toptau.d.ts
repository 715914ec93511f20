// Types of toptau.mjs, which documents what its functions do.

/** A value of a column: null and undefined are missing. */
export type Value = string | number | bigint | boolean | Date | null | undefined;

/** One row: by column, or the values in the order of Model.columns. */
export type Row = { readonly [column: string]: Value } | ReadonlyMap<string, Value> | readonly Value[] | Float32Array | Float64Array;

/** What is known of the place of a problem. Rows count from 1. */
export interface Place {
  file?: string;
  row?: number;
  column?: string;
  fix?: string;
}

/** A problem that the user can fix. */
export class ToptauError extends Error implements Place {
  constructor(found: string, expected?: string, place?: Place);
  found: string;
  expected: string;
  file?: string;
  row?: number;
  column?: string;
  fix?: string;
  at(place: Place): this;
}

/** An operating point: the decision is score > threshold. */
export interface Point {
  readonly name: string;
  readonly threshold: number;
  readonly goal: object | null;
  readonly source: string;
  readonly guarantee: object | null;
  readonly segment: string;
  readonly segments: ReadonlyMap<string, number>;
  readonly entity: string;
  readonly day: string;
}

/** What a column adds to a score. */
export interface Reason {
  column: string;
  value: string;
  adds: number;
  aboveAverage: number;
}

/** A score, divided among the columns. */
export interface Explanation {
  score: number;
  reasons: Reason[];
  averageScore: number | null;
  offset: number;
  rounding: number;
  missing: string[];
  unknown: string[];
}

/** A model file. It does not change. */
export class Model {
  private constructor();
  static load(source: string | URL, options?: { maxBytes?: number }): Promise<Model>;
  static parse(content: Uint8Array | ArrayBuffer | string, options?: { name?: string; maxBytes?: number }): Model;
  readonly digest: string;
  readonly columns: readonly string[];
  readonly points: readonly Point[];
  readonly hasProbability: boolean;
  score(record: Row): number;
  decisionFunction(rows: Iterable<Row>): Float64Array;
  predict(rows: Iterable<Row>, options?: { at?: string }): boolean[];
  point(at?: string): Point;
  probability(rows: Iterable<Row>, options?: { prevalence?: number }): Float64Array;
  explain(record: Row): Explanation;
}
