/** What is used of js-yaml, which comes without types. */
declare module "js-yaml" {
  export interface Type {
    readonly tag: string;
  }

  export const Type: new (
    tag: string,
    options: {
      readonly kind: "scalar" | "sequence" | "mapping";
      readonly resolve: (data: unknown) => boolean;
      readonly construct: (data: unknown) => unknown;
    },
  ) => Type;

  export class Schema {
    extend(added: { readonly implicit: readonly Type[] }): Schema;
  }

  export const FAILSAFE_SCHEMA: Schema;
  export const types: { readonly merge: Type };
  /** Throws on what is no YAML. */
  export function load(text: string, options: { readonly schema: Schema; readonly json?: boolean }): unknown;
}
