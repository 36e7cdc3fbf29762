import { run } from "../../server/src/cli/main";
import type { Io } from "../../server/src/cli/main";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly stdin?: string | Uint8Array;
  readonly env?: Io["env"];
  readonly isTTY?: boolean;
}

/** Runs the command line inside this process. */
export async function vramlint(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const isTTY = options.isTTY ?? false;
  const code = await run(argv, {
    readStdin: () => Promise.resolve(Buffer.from(options.stdin ?? "")),
    stdout: { write: (chunk) => out.push(Buffer.from(chunk)), isTTY },
    stderr: { write: (chunk) => err.push(Buffer.from(chunk)), isTTY },
    env: options.env ?? {},
    cwd: options.cwd ?? process.cwd(),
  });
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}

/** One finding with a safe fix, one with a fix to be looked at. */
export const flawed = `# vram: batch_size=32
import torch

x = torch.zeros(1)  # vram: ignore[loss-graph-retained]
`;

/** The same after --fix. */
export const repaired = `# vram: batch_size=32
import torch

x = torch.zeros(1)
`;

export const clean = "import torch\n";
