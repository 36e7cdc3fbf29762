import "./activation";
import "./diagnostics";
import "./models";
import "./commands";
import "./training-plan";
import "./notebooks";
import "./screenshots";
