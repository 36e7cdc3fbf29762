/** VS Code's desktop application: the installed one that VSCODE_EXECUTABLE names, or a downloaded one. */
import path from "node:path";
import { requireFromRuntime, runtime } from "./install.mjs";

export async function launchOnDesktop({ extension, suite, folder, locale, env, limit, log }) {
  const { runTests } = requireFromRuntime("@vscode/test-electron");
  const timer = setTimeout(() => {
    console.error(`the suite did not end within ${limit / 1000} s`);
    process.exit(1);
  }, limit);
  try {
    return await runTests({
      vscodeExecutablePath: process.env.VSCODE_EXECUTABLE,
      cachePath: path.join(runtime, "vscode"),
      extensionDevelopmentPath: extension,
      extensionTestsPath: suite,
      extensionTestsEnv: env,
      launchArgs: [folder, "--disable-extensions", "--locale", locale, "--no-sandbox"],
    });
  } catch (error) {
    // Failed tests make VS Code end with an error; the suite's own result says more.
    log(String(error));
    return 1;
  } finally {
    clearTimeout(timer);
  }
}
