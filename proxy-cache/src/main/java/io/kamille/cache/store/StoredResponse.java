package io.kamille.cache.store;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One stored response (RFC 9111 §3): what reuse is decided by on the heap, all its octets in a
 * tier.
 *
 * <p>Any thread; what a reader sees never changes. Begins with one lease on its octets, the
 * creator's. A lookup takes another with {@link #tryRetain} before it reads.
 */
public final class StoredResponse implements Variants {

  /*
   * Fresh from a fill, head and content are one sequence of octets, so that a small hit is one
   * slice:
   *
   *   ┌────────────┬───────────────────────────────┬──────┬─────────┐
   *   │ target URI │ field lines, each with CRLF   │ CRLF │ content │
   *   └────────────┴───────────────────────────────┴──────┴─────────┘
   *   0            uriLength                              contentOffset
   *
   * Freshened by a 304 (RFC 9111 §4.3.4) there is a new head of the same form, and the content
   * stays where it was, behind the old head, which lives as long as the content does.
   * Content-Length is not among the lines: it differs between the whole, a part and a 304, and is
   * not known yet when chunked content is filled. Neither are Age and Cache-Status, which every hit
   * has its own of.
   *
   * All is fixed but three things. Up to which purge it is known not to be purged: that begins with
   * the last purge before the request was forwarded, and moves on with each comparison. Whether
   * somebody has seen to a copy of it in another tier. And when it was last used: the seconds of
   * its age then and the bit for the copy share a word, which changes by CAS, so that a use takes no
   * memory and writes once a second.
   */
  private static final int HEAP_BYTES = 80;
  private static final int SEPARATE_HEAP_BYTES = 88;
  private static final int FORM_HEAP_BYTES = 24;
  private static final int TEXT_HEAP_BYTES = 72;
  private static final VarHandle UNPURGED_UP_TO;
  private static final VarHandle USE_AND_COPY;
  private static final int COPIED = 1;

  static {
    try {
      UNPURGED_UP_TO =
          MethodHandles.lookup().findVarHandle(StoredResponse.class, "unpurgedUpTo", long.class);
      USE_AND_COPY =
          MethodHandles.lookup().findVarHandle(StoredResponse.class, "useAndCopy", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final StoredOctets head;
  private final StoredFacts facts;
  private final int uriLength;
  private final int headLength;
  private final Extras extras;

  @SuppressWarnings("UnusedVariable") // by its handle
  private volatile long unpurgedUpTo;

  /** Seconds from the response to its last use, times two; the lowest bit is the copy's. */
  private volatile int useAndCopy;

  private StoredResponse(
      StoredOctets head, int uriLength, int headLength, StoredFacts facts, Extras extras) {
    this.head = head;
    this.uriLength = uriLength;
    this.headLength = headLength;
    this.facts = facts;
    this.extras = extras;
  }

  /**
   * What few responses have of their own: the others share what is usual.
   *
   * @param selecting the request fields it was selected by
   * @param upstreamCacheStatus what Cache-Status said when it came, or null
   * @param forms its content under content codings
   * @param separate where its content lies if that is not behind its head, or null
   */
  private record Extras(
      SelectingFields selecting,
      @Nullable String upstreamCacheStatus,
      CodedForms forms,
      @Nullable SeparateContent separate) {

    private static final Extras USUAL =
        new Extras(SelectingFields.NONE, null, CodedForms.NEVER, null);
    private static final Extras CODABLE =
        new Extras(SelectingFields.NONE, null, CodedForms.NOT_YET, null);

    private static Extras of(
        SelectingFields selecting,
        @Nullable String upstreamCacheStatus,
        CodedForms forms,
        @Nullable SeparateContent separate) {
      if (selecting.isEmpty() && upstreamCacheStatus == null && separate == null) {
        if (forms == CodedForms.NEVER) {
          return USUAL;
        }
        if (forms == CodedForms.NOT_YET) {
          return CODABLE;
        }
      }
      return new Extras(selecting, upstreamCacheStatus, forms, separate);
    }
  }

  /** Content that lies behind an older head, apart from its own. */
  private record SeparateContent(StoredOctets octets, long offset) {}

  /** A response whose encoded head and content lie in {@code octets}. Takes over one lease. */
  public static StoredResponse of(
      EncodedHead encoded, StoredOctets octets, StoredFacts facts, SelectingFields selecting) {
    return new StoredResponse(
        octets,
        encoded.uriLength(),
        encoded.length(),
        facts,
        Extras.of(selecting, encoded.cacheStatus(), CodedForms.NEVER, null));
  }

  /**
   * This response under a new head (RFC 9111 §4.3.4). Takes over one lease on {@code head} and
   * takes one on the content; the caller holds one on this response.
   */
  public StoredResponse freshened(
      EncodedHead encoded, StoredOctets head, StoredFacts facts, SelectingFields selecting) {
    content().retain();
    SeparateContent separate = new SeparateContent(content(), contentOffset());
    return new StoredResponse(
        head,
        encoded.uriLength(),
        encoded.length(),
        facts,
        Extras.of(selecting, encoded.cacheStatus(), CodedForms.NEVER, separate));
  }

  /**
   * This response, with its coded forms, as softly purged at that time. A copy of it in another
   * tier is one of this, too: it is older than the purge. Takes over one lease on this one, and
   * takes one on each form.
   */
  public StoredResponse staleSince(long epochSeconds) {
    StoredResponse stale =
        new StoredResponse(
            head,
            uriLength,
            headLength,
            facts.staleSince(epochSeconds),
            withForms(extras.forms.staleSince(epochSeconds)));
    stale.useAndCopy = useAndCopy;
    return stale;
  }

  private Extras withForms(CodedForms forms) {
    return Extras.of(extras.selecting, extras.upstreamCacheStatus, forms, extras.separate);
  }

  /**
   * The number of the last purge that it is known not to have fallen under; 0 until somebody says
   * so, which is before every purge.
   */
  public long unpurgedUpTo() {
    return unpurgedUpTo;
  }

  /** It did not fall under the purges up to that number. Nothing if somebody else said so first. */
  public void unpurged(long since, long upTo) {
    UNPURGED_UP_TO.compareAndSet(this, since, upTo);
  }

  /** Whether somebody sees, or has seen, to a copy of it in another tier. */
  public boolean isCopied() {
    return (useAndCopy & COPIED) != 0;
  }

  /** Whether the caller is the one who is to see to a copy of it. */
  public boolean claimCopy() {
    return ((int) USE_AND_COPY.getAndBitwiseOr(this, COPIED) & COPIED) == 0;
  }

  /** There is no copy of it after all. */
  public void unclaimCopy() {
    USE_AND_COPY.getAndBitwiseAnd(this, ~COPIED);
  }

  /**
   * The same response with these forms, purged or not as this one; the leases on this one count for
   * it.
   */
  public StoredResponse with(CodedForms forms) {
    StoredResponse same = new StoredResponse(head, uriLength, headLength, facts, withForms(forms));
    same.unpurgedUpTo = unpurgedUpTo;
    same.useAndCopy = useAndCopy;
    return same;
  }

  /**
   * Its content under content codings. A lease on this response is none on them; who keeps it in an
   * index holds one on each.
   */
  public CodedForms forms() {
    return extras.forms;
  }

  /** What to answer this request with: this response, or one of its coded forms. Takes no lease. */
  public StoredResponse codedFormFor(RequestHead request) {
    return extras.forms.choose(this, request.fields());
  }

  /** Whether that response has the same stored content, though perhaps another head. */
  public boolean isSameContent(StoredResponse other) {
    return content().equals(other.content());
  }

  /** What its head lies in, and its content if that was not freshened; under the same lease. */
  public StoredOctets headOctets() {
    return head;
  }

  public int status() {
    return facts.status();
  }

  /** What decides whether and how this response may be reused. */
  public StoredFacts facts() {
    return facts;
  }

  /**
   * Whether it is what that request selects. A challenge is not for those who have credentials (RFC
   * 9110 §11.6.2): with it, nobody could sign in.
   */
  public boolean answers(RequestHead request) {
    return extras.selecting.matches(request)
        && (facts.status() != 401 || !request.isAuthenticated());
  }

  /** The request fields this response was selected by. */
  public SelectingFields selecting() {
    return extras.selecting;
  }

  public long contentLength() {
    return content().length() - contentOffset();
  }

  /** What target URI, field lines and empty line take. */
  public int headLength() {
    return headLength;
  }

  /** Counts one answer from the store; see {@link StoredOctets#countHit}. */
  public void countHit(long nowEpochSeconds) {
    content().countHit();
    int before = (int) USE_AND_COPY.getOpaque(this);
    int age = (int) Math.max(0, nowEpochSeconds - facts.responseTime());
    int after = age << 1 | (before & COPIED);
    if (after != before) {
      USE_AND_COPY.compareAndSet(this, before, after);
    }
  }

  /** When it was last used, or stored if it never was, in epoch seconds. */
  public long lastUse() {
    return facts.responseTime() + (useAndCopy >>> 1);
  }

  /** How many answers were counted, since the content came: a new head changes nothing. */
  public int hits() {
    return content().hits();
  }

  /** Members that caches behind us put into Cache-Status, in order, or null (RFC 9211 §2). */
  public @Nullable String upstreamCacheStatus() {
    return extras.upstreamCacheStatus;
  }

  /** Takes a lease if the octets are still there. */
  public boolean tryRetain() {
    if (!head.tryRetain()) {
      return false;
    }
    if (extras.separate != null && !extras.separate.octets.tryRetain()) {
      head.release();
      return false;
    }
    return true;
  }

  /** Takes one more lease; the caller holds one. */
  public void retain() {
    head.retain();
    if (extras.separate != null) {
      extras.separate.octets.retain();
    }
  }

  /** Ends one lease. */
  public void release() {
    head.release();
    if (extras.separate != null) {
      extras.separate.octets.release();
    }
  }

  /** Ends one lease on it and one on each of its coded forms, as who kept it in an index must. */
  public void forget() {
    release();
    extras.forms.release();
  }

  /** Whether field lines and content lie in one piece. */
  public boolean isOnePiece() {
    return extras.separate == null && head.blockCount() == 1;
  }

  /** How many octets lines, empty line and content have together. */
  public long linesAndContentLength() {
    return headLength - uriLength + contentLength();
  }

  /**
   * Field lines, empty line and content of a response that {@link #isOnePiece}, as one slice with a
   * lease of its own. Needs a lease, as do the following.
   */
  public ByteBuf linesAndContent() {
    return head.slice(uriLength, (int) linesAndContentLength());
  }

  /** The field lines and the empty line, with a lease of their own. */
  public ByteBuf lines() {
    return head.slice(uriLength, headLength - uriLength);
  }

  /** What the content lies in, from {@link #contentOffset} on; under the same lease. */
  public StoredOctets content() {
    return extras.separate == null ? head : extras.separate.octets;
  }

  public long contentOffset() {
    return extras.separate == null ? headLength : extras.separate.offset;
  }

  /** The target URI it was stored for. Needs a lease. */
  public String uri() {
    byte[] octets = new byte[uriLength];
    head.copyTo(0, octets, 0, uriLength);
    return Octets.text(octets, 0, uriLength);
  }

  /** The stored head, decoded. Needs a lease. */
  public ResponseHead head() {
    byte[] octets = new byte[headLength - uriLength];
    head.copyTo(uriLength, octets, 0, octets.length);
    return ResponseCodec.decode(facts.status(), octets);
  }

  /** What this response takes in the tier, with a head of its own and coded forms counted too. */
  public long occupiedBytes() {
    long separate = extras.separate == null ? 0 : extras.separate.octets.occupiedBytes();
    return head.occupiedBytes() + separate + extras.forms.occupiedBytes();
  }

  /** What this one takes on the heap, with its coded forms, nearly. */
  long responseHeapBytes() {
    long sum = HEAP_BYTES + facts.heapBytes() + extras.selecting.heapBytes();
    if (extras.separate != null) {
      sum += SEPARATE_HEAP_BYTES;
    }
    if (extras.upstreamCacheStatus != null) {
      sum += TEXT_HEAP_BYTES + extras.upstreamCacheStatus.length();
    }
    for (CodedForms.Form form : extras.forms.all()) {
      sum += FORM_HEAP_BYTES + form.response().responseHeapBytes();
    }
    return sum;
  }

  @Override
  public int size() {
    return 1;
  }

  @Override
  public StoredResponse at(int index) {
    return this;
  }

  @Override
  public @Nullable StoredResponse select(RequestHead request, long nowEpochSeconds) {
    return answers(request) ? this : null;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // a response is itself
  public @Nullable Variants replacing(StoredResponse one, @Nullable StoredResponse other) {
    return one == this ? other : this;
  }

  @Override
  public String toString() {
    return "StoredResponse[status=" + status() + ", contentLength=" + contentLength() + "]";
  }
}
