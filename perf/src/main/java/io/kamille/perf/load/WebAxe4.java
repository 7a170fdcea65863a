package io.kamille.perf.load;

import io.kamille.perf.load.WebObject.ContentKind;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;

/**
 * The WebAxe-4 workload of Web Polygraph, as Kawai, Kadobayashi and Yamaguchi used it (2004),
 * scaled by the size of its working set. Confined to the client's thread.
 */
public final class WebAxe4 implements RequestSource {

  /*
   * Shares of kinds, lengths, cachability and request types are those of the workload's definition.
   * How its generator comes to them is not part of the paper; we do it so:
   *
   * - Every kind has a working set of its own, the objects first asked for most recently; their sizes
   *   are as the shares of the kinds. One request in twenty is for a new object, which takes the place
   *   of the oldest; the others are for objects asked for before.
   * - A page is followed by the images it embeds, which were new when the page was. Pages embed 4.09
   *   images on average, so that of all images, at 65 of 15 pages, all but a few come with a page.
   *   The others are asked for by themselves.
   * - Of the objects of a working set, one in a hundred is hot; a tenth of the choices are among
   *   these. Nine times in ten two objects are looked at and the smaller one is chosen: our
   *   reading of "90 % byte-hit discrimination".
   * - First requests are plain, and POST has objects of its own, so that what a cache may answer from
   *   its store is known: what was asked for before and is cachable, unless it is a reload.
   *
   * Aborts, and the delay and loss of the network, are not made here.
   */

  private static final double NEW_SHARE = 0.05;
  private static final double HOT_SHARE = 0.1;
  private static final int HOT_STEP = 100;
  private static final double SMALLER_SHARE = 0.9;
  private static final double POST_SHARE = 0.015;
  private static final double HEAD_SHARE = 0.001;
  private static final double MODIFIED_SHARE = 0.05;
  private static final double UNMODIFIED_SHARE = 0.10;
  private static final double RELOAD_SHARE = 0.05;
  private static final int POST_LENGTH = 1024;
  private static final double MEAN_LENGTH = 10.575 * 1024;
  private static final Distribution.Zipf CLIENT_USES = new Distribution.Zipf(16);

  private static final String LONG_BEFORE = "If-Modified-Since: Wed, 01 Jan 2025 00:00:00 GMT\r\n";
  private static final String LATER = "If-Modified-Since: Thu, 02 Jul 2026 00:00:00 GMT\r\n";
  private static final String RELOAD = "Cache-Control: no-cache\r\nPragma: no-cache\r\n";

  /** The objects of one kind that may be asked for again. */
  private static final class WorkingSet {

    private final ContentKind kind;
    private final int capacity;
    private long next;

    private WorkingSet(ContentKind kind, int capacity) {
      this.kind = kind;
      this.capacity = capacity;
    }

    private WebObject add() {
      return new WebObject(kind, next++);
    }

    private boolean isFull() {
      return next >= capacity;
    }

    private long first() {
      return Math.max(0, next - capacity);
    }
  }

  private final String authority;
  private final double thinkScale;
  private final SplittableRandom random;
  private final Map<ContentKind, WorkingSet> sets = new EnumMap<>(ContentKind.class);
  private final long[] firstImages;
  private final Deque<WebObject> embedded = new ArrayDeque<>();
  private final double directShare;
  private final double directImages;
  private boolean isEmbeddedNew;
  private long posted;
  private long requests;
  private long offeredHits;

  /**
   * The workload.
   *
   * @param authority for the Host field
   * @param workingSetBytes of all objects that may be asked for again; 1 GB in the paper
   * @param thinkScale of the origin's think time; 1 for 300 ms on average
   */
  public WebAxe4(String authority, long workingSetBytes, double thinkScale, long seed) {
    this.authority = authority;
    this.thinkScale = thinkScale;
    this.random = new SplittableRandom(seed);
    double objects = workingSetBytes / MEAN_LENGTH;
    for (ContentKind kind : ContentKind.values()) {
      sets.put(kind, new WorkingSet(kind, (int) Math.max(1, objects * kind.share())));
    }
    this.firstImages = new long[set(ContentKind.HTML).capacity];
    this.directImages =
        ContentKind.IMAGE.share() - ContentKind.HTML.share() * WebObject.meanEmbedded();
    this.directShare = 1 - ContentKind.IMAGE.share() + directImages;
  }

  /** Draws how often the client uses a connection. */
  public static IntSupplier clientUses(long seed) {
    var random = new SplittableRandom(seed);
    return () -> CLIENT_USES.value(random.nextDouble());
  }

  /** Whether every working set is full. */
  public boolean isFilled() {
    return set(ContentKind.IMAGE).isFull()
        && set(ContentKind.HTML).isFull()
        && set(ContentKind.DOWNLOAD).isFull()
        && set(ContentKind.OTHER).isFull();
  }

  /** Requests that fill the working sets, each for a new object, until {@link #isFilled}. */
  public RequestSource filling() {
    return () -> request(true);
  }

  @Override
  public LoadRequest next() {
    return request(false);
  }

  /** How many requests there were since the counters were set to 0. */
  public long requests() {
    return requests;
  }

  /** How many of them a cache that holds the whole working set may answer from its store. */
  public double offeredHitRatio() {
    return requests == 0 ? 0 : (double) offeredHits / requests;
  }

  /** Sets the counters to 0. */
  public void resetCounters() {
    requests = 0;
    offeredHits = 0;
  }

  private WorkingSet set(ContentKind kind) {
    WorkingSet set = sets.get(kind);
    if (set == null) {
      throw new IllegalStateException("no working set of " + kind);
    }
    return set;
  }

  private LoadRequest request(boolean isFilling) {
    requests++;
    if (!embedded.isEmpty()) {
      WebObject image = embedded.remove();
      return isEmbeddedNew ? plain(image) : again(image);
    }
    if (!isFilling && random.nextDouble() < POST_SHARE / directShare) {
      var object = new WebObject(ContentKind.POSTED, posted++);
      return LoadRequest.post(authority, object.target(thinkScale), POST_LENGTH);
    }
    WorkingSet set = set(directKind());
    if (isFilling || set.next == 0 || random.nextDouble() < NEW_SHARE) {
      WebObject object = set.add();
      embedNew(object);
      return plain(object);
    }
    WebObject object = known(set);
    embedKnown(object);
    return again(object);
  }

  private ContentKind directKind() {
    double share = random.nextDouble() * directShare;
    if (share < directImages) {
      return ContentKind.IMAGE;
    }
    share -= directImages;
    if (share < ContentKind.HTML.share()) {
      return ContentKind.HTML;
    }
    return share < ContentKind.HTML.share() + ContentKind.DOWNLOAD.share()
        ? ContentKind.DOWNLOAD
        : ContentKind.OTHER;
  }

  private void embedNew(WebObject object) {
    if (object.kind() != ContentKind.HTML) {
      return;
    }
    isEmbeddedNew = true;
    WorkingSet images = set(ContentKind.IMAGE);
    firstImages[place(object)] = images.next;
    for (int i = object.embedded(); i > 0; i--) {
      embedded.add(images.add());
    }
  }

  private void embedKnown(WebObject object) {
    if (object.kind() != ContentKind.HTML) {
      return;
    }
    isEmbeddedNew = false;
    long first = firstImages[place(object)];
    for (int i = 0; i < object.embedded(); i++) {
      embedded.add(new WebObject(ContentKind.IMAGE, first + i));
    }
  }

  private int place(WebObject page) {
    return (int) (page.index() % firstImages.length);
  }

  private WebObject known(WorkingSet set) {
    boolean isHot = random.nextDouble() < HOT_SHARE;
    WebObject one = known(set, isHot);
    if (random.nextDouble() >= SMALLER_SHARE) {
      return one;
    }
    WebObject other = known(set, isHot);
    return other.length() < one.length() ? other : one;
  }

  private WebObject known(WorkingSet set, boolean isHot) {
    long first = set.first();
    long firstHot = (first + HOT_STEP - 1) / HOT_STEP;
    long hot = (set.next - 1) / HOT_STEP - firstHot + 1;
    if (isHot && hot > 0) {
      return new WebObject(set.kind, HOT_STEP * (firstHot + random.nextLong(hot)));
    }
    long index = first + random.nextLong(set.next - first);
    while (index % HOT_STEP == 0 && set.next - first > 1) {
      index = first + random.nextLong(set.next - first);
    }
    return new WebObject(set.kind, index);
  }

  private LoadRequest plain(WebObject object) {
    return LoadRequest.get(authority, object.target(thinkScale));
  }

  private LoadRequest again(WebObject object) {
    OriginTarget target = object.target(thinkScale);
    double share = random.nextDouble() * (1 - NEW_SHARE);
    boolean isReload = share < RELOAD_SHARE;
    if (object.isCachable() && !isReload) {
      offeredHits++;
    }
    if (isReload) {
      return LoadRequest.get(authority, target, RELOAD);
    }
    share -= RELOAD_SHARE;
    if (share < UNMODIFIED_SHARE) {
      return LoadRequest.getUnmodified(authority, target, LATER);
    }
    share -= UNMODIFIED_SHARE;
    if (share < MODIFIED_SHARE) {
      return LoadRequest.get(authority, target, LONG_BEFORE);
    }
    share -= MODIFIED_SHARE;
    return share < HEAD_SHARE
        ? LoadRequest.head(authority, target)
        : LoadRequest.get(authority, target);
  }
}
