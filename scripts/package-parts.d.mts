export interface PackagePart {
  readonly title: string;
  readonly bytes: number;
}
export function packageParts(root: string, files: readonly string[]): PackagePart[];
export function printParts(sizes: readonly PackagePart[]): void;
