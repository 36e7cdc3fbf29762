import "./activation";
import "./diagnostics";
import "./models";
import "./commands";
import "./training-plan";
import "./workspace-scan";
import "./notebooks";
import "./screenshots";
