// The description of an operation, from which the client builds its requests. `generated/operations.ts` has all of them.

/** One operation of the wire contract. */
export interface Operation {
  /** Name of the method in the client, such as `sessions.inbox.list`. */
  readonly name: string;
  /** Absent: `GET`. */
  readonly method?: string;
  /** Literal text and parameters, in order. The slashes in the value of a rest are kept. */
  readonly path: readonly Segment<string>[];
  /** Headers of every request of this operation. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the input that the query carries. Absent: none. */
  readonly query?: readonly string[];
  /** Members of the input that the body carries as JSON. `lines`: the input is the lines of the body. Absent: no body. */
  readonly payload?: readonly string[] | "lines";
  /** Members for which a caller may give the text alone: `"hi"` is sent as `{ text: "hi" }`. */
  readonly texts?: readonly string[];
  /** Members that hold objects with known members only. */
  readonly shapes?: ObjectShape;
  /** True if the value of the method is the member `data` of the body. */
  readonly unwrap?: boolean;
  /** The only members that a caller may give together with a cursor, which is one of them. */
  readonly continuation?: readonly string[];
  /** The statuses whose body is a declared failure, in addition to those that every operation can have. */
  readonly errors?: readonly number[];
}

/** An operation with the input `I`. The compiler checks the names of its members. */
export interface OperationOf<I> extends Operation {
  readonly path: readonly Segment<Names<I>>[];
  readonly query?: readonly Names<I>[];
  readonly payload?: readonly Names<I>[];
  readonly texts?: readonly Names<I>[];
  readonly continuation?: readonly Names<I>[];
}

type Segment<Name> = string | { readonly param: Name } | { readonly rest: Name };

/** Names of the members of an input, also of an input with several forms. */
type Names<I> = I extends unknown ? keyof I & string : never;

/** The members that a value may have: anything, a list of values of one shape, or an object. */
export type Shape = null | readonly Shape[] | ObjectShape;

/** An object that has these members and no others. */
export interface ObjectShape {
  readonly [member: string]: Shape;
}

/** An input as the client receives it: the caller may not use TypeScript. */
export type Input = Readonly<Record<string, unknown>>;
