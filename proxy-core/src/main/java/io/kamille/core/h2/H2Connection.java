package io.kamille.core.h2;

import static io.netty.handler.codec.http2.Http2CodecUtil.SETTINGS_ENABLE_CONNECT_PROTOCOL;
import static io.netty.handler.codec.http2.Http2CodecUtil.SETTINGS_ENABLE_PUSH;
import static io.netty.handler.codec.http2.Http2CodecUtil.SETTINGS_INITIAL_WINDOW_SIZE;
import static io.netty.handler.codec.http2.Http2CodecUtil.SETTINGS_MAX_CONCURRENT_STREAMS;
import static io.netty.handler.codec.http2.Http2CodecUtil.SETTINGS_MAX_HEADER_LIST_SIZE;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * One HTTP/2 connection, with a client or an origin: frames in, frames out, and the streams between
 * (RFC 9113). Confined to its loop.
 */
public final class H2Connection {

  /*
   * Octets are cut into frames, and Netty reads each (FrameReceiver). A header section of a client
   * is a request or its trailers (RequestIntake), which opens a stream (OpenStreams); one of an
   * origin is a response or its trailers (ResponseIntake). What is sent on a stream waits there
   * until it is its turn (H2Output). Faults and floods have one account (Faults).
   */
  private static final long DRAIN_PING = 0x6b616d696c6c65L;
  private static final int SETTINGS_NO_OLD_PRIORITIES = 9;

  private final H2Owner owner;
  private final H2Settings settings;
  private final FrameWriter writer;
  private final OpenStreams streams;
  private final Faults faults;
  private final H2Output output;
  private final ReceiveWindow window;
  private final SectionIntake heads;
  private final FrameReceiver receiver;
  private final FrameCutter cutter;
  private final LongSupplier clock;
  private final Carriage carriage = new Carriage();
  private final boolean isServer;
  private long unfinishedSinceNanos;
  private long wholesBefore;
  private boolean unfinished;

  private H2Connection(
      H2Owner owner,
      H2Settings settings,
      HpackWriter scratch,
      LongSupplier clock,
      ChannelHandlerContext context,
      boolean isServer,
      Function<H2Connection, SectionIntake> intake) {
    this.owner = owner;
    this.settings = settings;
    this.clock = clock;
    this.isServer = isServer;
    this.writer = new FrameWriter(owner);
    SendQueue queue = new SendQueue();
    AttackBudget budget = new AttackBudget(clock.getAsLong());
    this.streams = new OpenStreams(writer, queue, budget, owner);
    this.faults = new Faults(streams, writer, budget, owner, clock);
    this.output = new H2Output(owner, writer, queue, budget, scratch);
    this.window = new ReceiveWindow(writer, settings.connectionWindowBytes(), !isServer);
    this.heads = intake.apply(this);
    this.receiver =
        new FrameReceiver(heads, streams, faults, output, writer, window, this::pingAnswered);
    this.cutter = new FrameCutter(owner, faults, receiver, context, isServer);
  }

  /**
   * The server's side of a connection.
   *
   * @param sink of the loop
   * @param scratch of the loop
   * @param secure whether it is over TLS
   * @param clock monotonic nanoseconds
   * @param context that Netty's reader takes its allocator from
   */
  public static H2Connection fromClient(
      H2Owner.Server owner,
      H2Settings settings,
      RequestSink sink,
      HpackWriter scratch,
      boolean secure,
      LongSupplier clock,
      ChannelHandlerContext context) {
    return new H2Connection(
        owner,
        settings,
        scratch,
        clock,
        context,
        true,
        made ->
            new RequestIntake(
                owner, made.streams, made.faults, settings, made.carriage, sink, secure));
  }

  /** The client's side of a connection; parameters as above. */
  public static H2Connection toOrigin(
      H2Owner.Client owner,
      H2Settings settings,
      ResponseSink sink,
      HpackWriter scratch,
      LongSupplier clock,
      ChannelHandlerContext context) {
    return new H2Connection(
        owner,
        settings,
        scratch,
        clock,
        context,
        false,
        made -> new ResponseIntake(owner, made.streams, made.faults, settings.head(), sink));
  }

  /** Sends our settings. */
  public void start() {
    if (isServer) {
      writer.settings(
          SETTINGS_MAX_CONCURRENT_STREAMS, settings.streams(),
          SETTINGS_INITIAL_WINDOW_SIZE, settings.streamWindowBytes(),
          SETTINGS_MAX_HEADER_LIST_SIZE, settings.head().headBytes(),
          SETTINGS_ENABLE_CONNECT_PROTOCOL, 1,
          SETTINGS_NO_OLD_PRIORITIES, 1);
    } else {
      owner.write(FrameCutter.preface(owner.allocator()));
      writer.settings(
          SETTINGS_ENABLE_PUSH, 0,
          SETTINGS_INITIAL_WINDOW_SIZE, settings.streamWindowBytes(),
          SETTINGS_MAX_HEADER_LIST_SIZE, settings.head().headBytes());
    }
    window.open();
  }

  /** Whether another stream of ours can be opened: ids come to an end (RFC 9113 §5.1.1). */
  public boolean canOpen() {
    return !faults.haveEnded() && streams.nextOfOurs() <= Integer.MAX_VALUE;
  }

  /** Opens a stream of ours; its head has to be sent before another one is opened. */
  public <S extends H2Stream & ResponseTaker> S open(StreamMaker<S> maker) {
    S stream = maker.make(carriage, (int) streams.nextOfOurs());
    streams.addOurs(stream);
    return stream;
  }

  /** Makes a stream of ours. */
  @FunctionalInterface
  public interface StreamMaker<S> {
    S make(H2Stream.Carrier carrier, int id);
  }

  /** The other side has not looked at streams of ours above this id, and will not. */
  public void refused(int lastId) {
    List<H2Stream> inOrder = streams.all();
    inOrder.sort(Comparator.comparingInt(H2Stream::id));
    for (H2Stream stream : inOrder) {
      if (stream.id() > lastId && !stream.isOver()) {
        streams.abandoned(stream, Http2Error.REFUSED_STREAM);
      }
    }
  }

  /** Asks the other side for a sign of life, which {@link #receive} sees like any other frame. */
  public void ping() {
    writer.ping(0, false);
  }

  // What comes

  /**
   * Takes octets, but for those behind a flood of frames that wait for an answer. Borrows the
   * buffer; content is retained.
   *
   * @return false if the rest has to wait until the socket is writable
   */
  public boolean receive(ByteBuf in) {
    boolean taken = cutter.take(in);
    if (faults.haveEnded()) {
      in.skipBytes(in.readableBytes());
    }
    noteUnfinished();
    return taken;
  }

  private void noteUnfinished() {
    boolean isSame = unfinished && wholesBefore == receiver.wholes();
    unfinished = unfinishedHeadBytes() > 0;
    if (unfinished && !isSame) {
      unfinishedSinceNanos = clock.getAsLong();
      wholesBefore = receiver.wholes();
    }
  }

  /** A burst of reads is over: hands requests on and sends what may be sent. */
  public void burstEnds() {
    output.hold();
    try {
      heads.handOn();
    } finally {
      output.release();
    }
    output.sendReady();
  }

  /**
   * Whether a head or frame that has come in part has taken longer than this.
   *
   * @param nanos for all of it
   */
  public boolean isUnfinishedFor(long nanos) {
    // A frame of content becomes one when its stream ends, without a further octet.
    noteUnfinished();
    return unfinished && clock.getAsLong() - unfinishedSinceNanos >= nanos;
  }

  /**
   * Octets that a header section takes of which only a part has come, or another frame; content of
   * an open stream does not count: that has a least rate.
   */
  public int unfinishedHeadBytes() {
    boolean isContent = streams.find(cutter.partialContentOf()) != null;
    return receiver.headBytes() + (isContent ? 0 : cutter.partialRoom());
  }

  /** Octets of content of this stream in a frame that has come in part. */
  public int partialContentBytes(H2Stream stream) {
    return cutter.partialContentOf() == stream.id() ? cutter.partialBytes() : 0;
  }

  // What goes

  /** Begins a header section in the scratch of the loop. */
  public HpackWriter section() {
    return output.section();
  }

  /** Sends content in turn, as far as windows and the socket allow. */
  public void sendReady() {
    output.sendReady();
  }

  /** Whether content waits for the window of the whole connection. */
  public boolean isBlocked() {
    return output.isBlocked();
  }

  /** Octets of content sent so far. */
  public long sentBytes() {
    return output.sentBytes();
  }

  /** An answer was sent whole, and nobody wants the rest of the request (RFC 9113 §8.1). */
  public void answered(H2Stream stream) {
    streams.answered(stream);
  }

  /** What streams ask of their connection. */
  private final class Carriage implements H2Stream.Carrier {

    @Override
    public int receiveWindow() {
      return settings.streamWindowBytes();
    }

    @Override
    public int sendWindow() {
      return output.initialWindow();
    }

    @Override
    public void head(H2Stream stream, HpackWriter section, boolean isLast) {
      output.head(stream, section, isLast);
    }

    @Override
    public void wantsToSend(H2Stream stream) {
      output.wantsToSend(stream);
    }

    @Override
    public void credit(int bytes) {
      if (!faults.haveEnded()) {
        window.credit(bytes);
      }
    }

    @Override
    public void credit(H2Stream stream, int bytes) {
      if (!faults.haveEnded()) {
        writer.windowUpdate(stream.id(), bytes);
      }
    }

    @Override
    public void priority(H2Stream stream, Priority priority) {
      output.priority(stream, priority);
    }

    @Override
    public void reset(H2Stream stream, Http2Error code) {
      streams.reset(stream, code);
    }

    @Override
    public void ended(H2Stream stream) {
      streams.ended(stream);
    }
  }

  // How it ends

  /*
   * A drain takes one round trip: GOAWAY with the greatest stream id, a PING, and behind its answer
   * GOAWAY with the last id that was taken. So no request that was on its way is lost.
   */
  /** Says that no streams are taken any more; those on their way still are (RFC 9113 §6.8). */
  public void drain() {
    if (!faults.haveEnded() && streams.takesMore()) {
      writer.goAway(Integer.MAX_VALUE, Http2Error.NO_ERROR);
      writer.ping(DRAIN_PING, false);
    }
  }

  private void pingAnswered(long content) {
    if (content == DRAIN_PING && streams.takesMore()) {
      streams.takeNoMore();
      writer.goAway(streams.lastOfPeer(), Http2Error.NO_ERROR);
    }
  }

  /** Whether the last promise of {@link #drain} is kept. */
  public boolean isDrained() {
    return !streams.takesMore() && streams.isEmpty();
  }

  /** The connection is about to be closed. */
  public void goodbye() {
    if (!faults.haveEnded()) {
      faults.end();
      writer.goAway(streams.lastOfPeer(), Http2Error.NO_ERROR);
    }
  }

  /** Ends the connection for the other side's fault. */
  public void fail(Http2Error code, String reason) {
    faults.fail(code, reason);
  }

  /** Breaks all streams off and lets go of all buffers: the connection is gone. */
  public void gone() {
    faults.end();
    receiver.release();
    cutter.release();
    streams.breakAll();
    heads.release();
  }

  /** Whether no stream is open. */
  public boolean isIdle() {
    return streams.isEmpty();
  }

  /** Open streams. */
  public List<H2Stream> streams() {
    return streams.all();
  }

  /** Lends each buffer that waits on a stream. */
  public void forEachWaiting(Consumer<ByteBuf> action) {
    streams.forEachWaiting(action);
  }

  /** The exchange of a stream that is over goes on: its place stays taken. */
  public void lingers() {
    streams.lingers();
  }

  /** It has ended. */
  public void lingersNoMore() {
    streams.lingersNoMore();
  }
}
