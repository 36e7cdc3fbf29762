/** mocha's own spec reporter that also leaves the counts in the file VRAMLINT_TEST_RESULT names. */
const { writeFileSync } = require("node:fs");
const Mocha = require("mocha");

module.exports = class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failures = [];
    runner.on("fail", (test) => failures.push(test.fullTitle()));
    runner.once("end", () => {
      const file = process.env.VRAMLINT_TEST_RESULT;
      if (file === undefined) return;
      const { passes, pending } = this.stats;
      writeFileSync(
        file,
        JSON.stringify({ passed: passes, failed: failures.length, skipped: pending, failures }),
      );
    });
  }
};
