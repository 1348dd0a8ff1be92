// Assertions about types, which only the compiler checks.

/** True if two types are the same, also if one of them is `any`. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only for a type that is `true`. */
export declare function holds<T extends true>(...because: T extends true ? [] : [never]): void;

/** Compiles only if no variant is left. */
export declare function impossible(value: never): never;
