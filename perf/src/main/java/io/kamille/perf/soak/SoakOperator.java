package io.kamille.perf.soak;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Who runs the proxy: purges, reloads, sets peak mode, looks. Confined to its thread. */
record SoakOperator(
    SoakServer server,
    SoakOrigin sometimesDown,
    Versions versions,
    Tally tally,
    SplittableRandom random) {

  private static final int PAUSE_MILLIS = 400;

  /** All is purged so seldom, since much has to be stored first. */
  private static final int SELDOM = 40;

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
        case 0, 1 -> {
          Subject subject = Subject.any(Family.LARGE, random);
          purge(List.of(subject), url(subject));
        }
        case 2, 3 -> {
          Family family = random.nextBoolean() ? Family.VARY : Family.TEXT;
          String prefix = "http://" + Wanted.HOST + "/" + family.path() + "/";
          purge(Subject.every(family, 1), "\"prefix\": \"" + prefix + "\"");
        }
        case 4 -> {
          List<Subject> tagged = Subject.every(Family.PAGE, Subject.TAGS);
          purge(tagged, tag(tagged.getFirst()));
        }
        case 5 -> {
          Subject subject = Subject.any(Family.PAGE, random);
          String what = random.nextBoolean() ? tag(subject) : url(subject);
          purge(List.of(), what + ", \"mode\": \"soft\"");
        }
        case 6 -> {
          tally.count("order.reload");
          server.reload(tally.sum("order.reload"));
        }
        case 7 -> peak(List.of("forced", "off", "auto").get(random.nextInt(3)));
        case 8 -> sometimesDown.down(random.nextBoolean());
        case 9 -> readPages();
        default -> purgeAllSeldom();
      }
    } catch (IOException | RuntimeException e) {
      tally.fail("operator: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String url(Subject subject) {
    return "\"url\": \"" + Wanted.url(subject) + "\"";
  }

  private static String tag(Subject subject) {
    return "\"tags\": [\"" + subject.tag() + "\"]";
  }

  private void purgeAllSeldom() throws IOException {
    if (random.nextInt(SELDOM) == 0) {
      String host = "\"host\": \"" + Wanted.HOST + "\"";
      purge(Subject.every(Family.SHORT, 1), random.nextBoolean() ? "\"all\": true" : host);
    }
  }

  /** Changes these and purges; from then on nobody may get them as they were. */
  private void purge(List<Subject> changing, String what) throws IOException {
    var changed = new LinkedHashMap<Subject, Long>();
    changing.forEach(subject -> changed.put(subject, versions.change(subject)));
    server.control().order("POST", "/v1/cache/purges", "{" + what + "}");
    tally.count("order.purge");
    changed.forEach(versions::forbidBefore);
  }

  private void peak(String mode) throws IOException {
    server.control().order("PUT", "/v1/cache/tiers", "{\"peak\": \"" + mode + "\"}");
    tally.count("order.peak-" + mode);
  }

  private void readPages() throws IOException {
    String url = "?url=" + Wanted.url(Subject.any(Family.VARY, random));
    for (String path : List.of("/metrics", "/v1/status", "/v1/cache/tiers")) {
      server.control().get(path);
    }
    server.control().get("/v1/explain" + url);
    server.control().get("/v1/cache/objects" + url);
    tally.count("order.look");
  }
}
