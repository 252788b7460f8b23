// Links the recomputed report if there is one: site.json, which the server writes, says so.

export async function beginDocuments() {
  let report = null;
  try {
    report = (await (await fetch("site.json")).json()).report;
  } catch {
    // A page that was opened from a folder cannot fetch; the report is then not linked.
  }
  if (typeof report !== "string") return;
  document.getElementById("report-link").href = report;
  document.getElementById("report-there").hidden = false;
  document.getElementById("report-absent").hidden = true;
}
