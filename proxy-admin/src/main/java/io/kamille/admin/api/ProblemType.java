package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;
import java.util.Locale;

/** Why a request is not fulfilled, where the status code does not say enough (RFC 9457 §3.1.1). */
public enum ProblemType {
  CONFIG_INVALID(
      StatusCode.UNPROCESSABLE_CONTENT,
      "The configuration has problems",
      "Mend what errors lists: each entry has pointer, line, column, found and expected."),
  NEEDS_RESTART(
      StatusCode.UNPROCESSABLE_CONTENT,
      "The change needs a restart",
      "Commit it without confirm: a trial cannot have settings that wait for a restart."),
  VERSION_STALE(
      StatusCode.PRECONDITION_FAILED,
      "Another version runs",
      "Read /v1/config again, repeat the change on that text, and send its ETag by If-Match."),
  FILE_CHANGED(
      StatusCode.CONFLICT,
      "Somebody changed the file",
      "Take the file in by SIGHUP or POST /v1/config/reload, then repeat the change."),
  TRIAL_OPEN(StatusCode.CONFLICT, "A trial is open", "Keep or revert it by POST /v1/config/trial."),
  WRITES_OFF(
      StatusCode.CONFLICT,
      "Writes are off",
      "admin.config-writes is off: change the file, then reload it."),
  NO_TRIAL(StatusCode.NOT_FOUND, "No trial is open", "It was kept, reverted or ended already."),
  VERSION_GONE(
      410,
      "The version is not kept",
      "GET /v1/config/versions lists those that are: the last 100."),
  FILE_UNWRITABLE(
      StatusCode.SERVICE_UNAVAILABLE,
      "The file cannot be written",
      "Make room on its disk and let the process's user write in its directory."),
  NOT_PREPARED(
      StatusCode.INTERNAL_SERVER_ERROR,
      "The configuration cannot be prepared",
      "Read the log: it says what could not be made. The version before runs on."),
  PROOF_NEEDED(
      StatusCode.FORBIDDEN,
      "Proof needed",
      "Show the token again by POST /v1/session: the last time was more than 15 minutes ago."),
  NOT_IN_FORCE(
      StatusCode.SERVICE_UNAVAILABLE,
      "A node does not put the change in force",
      "errors lists the nodes and why. If nothing was changed, repeat it. If the change has a"
          + " number, each node tries it every minute."),
  NO_QUORUM(
      StatusCode.SERVICE_UNAVAILABLE,
      "No majority of the voters has confirmed it",
      "What errors lists is done. GET /v1/cluster says if a leader or a majority is missing. A"
          + " purge follows once both are there; repeat anything else."),
  AUDIT_UNWRITABLE(
      StatusCode.SERVICE_UNAVAILABLE,
      "The audit log cannot be written",
      "Make room on the disk of the state directory, or use the local socket.");

  private final int status;
  private final String title;
  private final String advice;

  ProblemType(int status, String title, String advice) {
    this.status = status;
    this.title = title;
    this.advice = advice;
  }

  /** As it stands at the end of the type's address. */
  public String token() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  /** What to do about it. */
  public String advice() {
    return advice;
  }
}
