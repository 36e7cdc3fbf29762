/** How often functions of ours are called, counted by V8: the same on every machine, what is answered from a memo included. */
import { Session } from "node:inspector/promises";

/** The calls of functions in files whose path matches, while an action runs. */
export async function countCalls(paths: RegExp, action: () => void): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await session.post("Profiler.takePreciseCoverage"); // what ran until now
    action();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const counted = result.filter(({ url }) => paths.test(url));
    const counts = counted.flatMap(({ functions }) => functions.map(({ ranges }) => ranges[0]?.count ?? 0));
    return counts.reduce((sum, count) => sum + count, 0);
  } finally {
    await session.post("Profiler.disable");
    session.disconnect();
  }
}
