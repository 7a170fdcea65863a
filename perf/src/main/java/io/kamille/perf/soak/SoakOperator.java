package io.kamille.perf.soak;

import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Who runs the proxy: purges, reloads, sets peak mode, looks. Confined to its thread. */
final class SoakOperator {

  private static final int PAUSE_MILLIS = 400;

  /** All is purged so seldom, since much has to be stored first. */
  private static final int SELDOM = 40;

  private final SoakServer server;
  private final SoakOrigin sometimesDown;
  private final Versions versions;
  private final Tally tally;
  private final SplittableRandom random;
  private int reloads;

  SoakOperator(
      SoakServer server,
      SoakOrigin sometimesDown,
      Versions versions,
      Tally tally,
      SplittableRandom random) {
    this.server = server;
    this.sometimesDown = sometimesDown;
    this.versions = versions;
    this.tally = tally;
    this.random = random;
  }

  /** Does one thing after the other until the time is over; leaves everything as it was. */
  void run(long endNanos) {
    while (System.nanoTime() - endNanos < 0) {
      act();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(PAUSE_MILLIS)));
    }
    sometimesDown.down(false);
    try {
      peak("auto");
    } catch (IOException e) {
      tally.fail("operator: " + e.getMessage());
    }
  }

  private void act() {
    int choice = random.nextInt(11);
    try {
      switch (choice) {
        case 0, 1 -> purgeUrl();
        case 2, 3 -> purgeFamily();
        case 4 -> purgeTag();
        case 5 -> purgeSoftly();
        case 6 -> reload();
        case 7 -> peak(List.of("forced", "off", "auto").get(random.nextInt(3)));
        case 8 -> sometimesDown.down(random.nextBoolean());
        case 9 -> look();
        default -> purgeAllSeldom();
      }
    } catch (IOException | RuntimeException e) {
      tally.fail("operator: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void purgeUrl() throws IOException {
    Subject subject = Subject.any(Family.LARGE, random);
    long version = versions.change(subject);
    purge("\"url\": \"" + Wanted.url(subject) + "\"");
    versions.forbidBefore(subject, version);
  }

  private void purgeFamily() throws IOException {
    Family family = random.nextBoolean() ? Family.VARY : Family.TEXT;
    long[] changed = change(family, 1);
    purge("\"prefix\": \"http://" + Wanted.HOST + "/" + family.path() + "/\"");
    forbid(family, 1, changed);
  }

  private void purgeTag() throws IOException {
    int step = Subject.TAGS;
    long[] changed = change(Family.PAGE, step);
    purge("\"tags\": [\"" + new Subject(Family.PAGE, 0).tag() + "\"]");
    forbid(Family.PAGE, step, changed);
  }

  private void purgeAllSeldom() throws IOException {
    if (random.nextInt(SELDOM) == 0) {
      long[] changed = change(Family.SHORT, 1);
      purge(random.nextBoolean() ? "\"all\": true" : "\"host\": \"" + Wanted.HOST + "\"");
      forbid(Family.SHORT, 1, changed);
    }
  }

  private void purgeSoftly() throws IOException {
    Subject subject = Subject.any(Family.PAGE, random);
    String of =
        random.nextBoolean()
            ? "\"tags\": [\"" + subject.tag() + "\"]"
            : "\"url\": \"" + Wanted.url(subject) + "\"";
    purge(of + ", \"mode\": \"soft\"");
  }

  private void purge(String what) throws IOException {
    server.control().order("POST", "/v1/cache/purges", "{" + what + "}");
    tally.count("order.purge");
  }

  private long[] change(Family family, int step) {
    var changed = new long[family.count()];
    for (int number = 0; number < changed.length; number += step) {
      changed[number] = versions.change(new Subject(family, number));
    }
    return changed;
  }

  private void forbid(Family family, int step, long[] changed) {
    for (int number = 0; number < changed.length; number += step) {
      versions.forbidBefore(new Subject(family, number), changed[number]);
    }
  }

  private void reload() throws IOException, InterruptedException {
    server.reload(++reloads);
    tally.count("order.reload");
  }

  private void peak(String mode) throws IOException {
    server.control().order("PUT", "/v1/cache/tiers", "{\"peak\": \"" + mode + "\"}");
    tally.count("order.peak-" + mode);
  }

  private void look() throws IOException {
    server.control().get("/metrics");
    server.control().get("/v1/status");
    server.control().get("/v1/cache/tiers");
    Subject subject = Subject.any(Family.VARY, random);
    server.control().get("/v1/explain?url=" + Wanted.url(subject));
    server.control().get("/v1/cache/objects?url=" + Wanted.url(subject));
    tally.count("order.look");
  }
}
