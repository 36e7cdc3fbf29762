/** Addresses of files, whose characters different programs escape differently. */
import { URI } from "vscode-uri";

/** One spelling for all: VS Code's. An address that cannot be read stays as it is. */
export function canonicalAddress(uri: string): string {
  try {
    return URI.parse(uri).toString();
  } catch {
    return uri;
  }
}

/** @param file an absolute path */
export function addressOfFile(file: string): string {
  return URI.file(file).toString();
}
