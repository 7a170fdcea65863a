package io.kamille.cache;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A client's reply that keeps what it is given, whichever way it is given. */
final class RecordingReply implements Reply {

  private static final int LITTLE_BYTES = 4096;

  private final ByteArrayOutputStream content = new ByteArrayOutputStream();
  private final List<ResponseHead> interims = new ArrayList<>();
  private ContentSource source = ContentSource.NONE;
  private @Nullable Failure failure;
  private Runnable whenWritten = () -> {};
  private String lines = "";
  private int status;
  private long announcedLength = UNKNOWN_LENGTH;
  private boolean isOpen;
  private boolean isWholeAtOnce;
  private boolean isWholeWithHead;
  private final CompletableFuture<RecordingReply> whenEnded = new CompletableFuture<>();
  private boolean isEnded;
  private @Nullable Fields trailers;
  private boolean isAborted;
  private boolean isGone;
  private boolean takesRegions;
  private int regions;

  // What the test does

  /** The client becomes slow. */
  void pause() {
    source.pause();
  }

  void resume() {
    source.resume();
  }

  /** The client goes away. */
  void leave() {
    isGone = true;
    source.cancel(Failure.of(Failure.ErrorType.CLIENT_GONE, "left"));
    whenEnded.complete(this);
  }

  /** Complete when the reply has ended or the client has left, for tests on several loops. */
  CompletableFuture<RecordingReply> whenEnded() {
    return whenEnded;
  }

  /** Takes regions of files from now on, and is slow from each of them to {@link #resume}. */
  RecordingReply takingRegions() {
    takesRegions = true;
    return this;
  }

  /** Runs after each chunk. */
  void whenWritten(Runnable action) {
    whenWritten = action;
  }

  // What the test sees

  int status() {
    return status;
  }

  /** All field lines, each with CRLF. */
  String lines() {
    return lines;
  }

  /** The value of the one line of that name, or null. */
  @Nullable String field(String name) {
    List<String> values = new ArrayList<>();
    String begin = name + ":";
    for (int at = 0; at >= 0; at = after(lines, at)) {
      if (lines.regionMatches(true, at, begin, 0, begin.length())) {
        int end = lines.indexOf("\r\n", at);
        values.add(lines.substring(at + begin.length(), end < 0 ? lines.length() : end).strip());
      }
    }
    if (values.size() > 1) {
      throw new AssertionError(name + ": " + values);
    }
    return values.isEmpty() ? null : values.getFirst();
  }

  /** Where the line behind that one begins; -1 behind the last. */
  private static int after(String lines, int at) {
    int end = lines.indexOf("\r\n", at);
    return end < 0 ? -1 : end + 2;
  }

  String text() {
    return content.toString(StandardCharsets.ISO_8859_1);
  }

  byte[] content() {
    return content.toByteArray();
  }

  long announcedLength() {
    return announcedLength;
  }

  List<Integer> interims() {
    return interims.stream().map(ResponseHead::status).toList();
  }

  /** The last interim head. */
  ResponseHead interim() {
    return interims.getLast();
  }

  @Nullable Failure failure() {
    return failure;
  }

  /** How many regions were among the content. */
  int regions() {
    return regions;
  }

  boolean isWholeAtOnce() {
    return isWholeAtOnce;
  }

  /** Whether all content came with the head, from the origin. */
  boolean isWholeWithHead() {
    return isWholeWithHead;
  }

  /** Whether the answer was complete. */
  boolean isComplete() {
    return isEnded && !isAborted && failure == null;
  }

  boolean isAborted() {
    return isAborted;
  }

  // Reply

  @Override
  public void open(ContentSource source) {
    if (isOpen) {
      throw new AssertionError("opened twice");
    }
    isOpen = true;
    this.source = source;
  }

  @Override
  public void interim(ResponseHead head) {
    interims.add(head.copy());
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    begin(head.status(), head.fields().toString().replace("\n", "\r\n"), contentLength);
  }

  /** Takes little content with its head, as a connection in clear text does. */
  @Override
  public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    head(head, contentLength);
    if (whole == null || isGone || contentLength < 0 || contentLength > LITTLE_BYTES) {
      return false;
    }
    byte[] octets = new byte[(int) contentLength];
    whole.readBytes(octets);
    content.writeBytes(octets);
    isWholeWithHead = true;
    return true;
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    begin(status, own(ownLines, ownLength), contentLength);
    String rest = linesAndContent.toString(StandardCharsets.ISO_8859_1);
    linesAndContent.release();
    int end = rest.indexOf("\r\n\r\n");
    int contentStart = rest.startsWith("\r\n") ? 2 : end + 4;
    lines += rest.substring(0, contentStart - 2);
    content.writeBytes(rest.substring(contentStart).getBytes(StandardCharsets.ISO_8859_1));
    isWholeAtOnce = true;
    ended();
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    begin(status, own(ownLines, ownLength), contentLength);
    this.lines += lines.toString(StandardCharsets.ISO_8859_1);
    lines.release();
  }

  private void begin(int status, String lines, long contentLength) {
    if (this.status != 0) {
      throw new AssertionError("begun twice");
    }
    this.status = status;
    this.lines = lines;
    this.announcedLength = contentLength;
  }

  private static String own(byte[] lines, int length) {
    return new String(lines, 0, length, StandardCharsets.ISO_8859_1);
  }

  @Override
  public void write(ByteBuf chunk) {
    if (isEnded) {
      throw new AssertionError("content after the end");
    }
    if (!isGone) {
      byte[] octets = new byte[chunk.readableBytes()];
      chunk.readBytes(octets);
      content.writeBytes(octets);
    }
    chunk.release();
    whenWritten.run();
  }

  @Override
  public boolean takesRegions() {
    return takesRegions;
  }

  @Override
  public void write(FileRegion region) {
    if (isEnded || !takesRegions) {
      throw new AssertionError("a region, out of place");
    }
    regions++;
    try {
      while (region.transferred() < region.count()) {
        region.transferTo(Channels.newChannel(content), region.transferred());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    region.release();
    source.pause();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    this.trailers = trailers == null ? null : trailers.copy();
    ended();
  }

  /** The trailer fields, or null. */
  @Nullable Fields trailers() {
    return trailers;
  }

  @Override
  public void abort(Failure why) {
    isAborted = true;
    failure = why;
    ended();
  }

  @Override
  public void fail(Failure failure) {
    this.failure = failure;
    isAborted = status != 0;
    status = status == 0 ? failure.status() : status;
    ended();
  }

  private void ended() {
    if (isEnded) {
      throw new AssertionError("ended twice");
    }
    isEnded = true;
    whenEnded.complete(this);
  }

  @Override
  public boolean isBegun() {
    return status != 0;
  }

  @Override
  public boolean isEnded() {
    return isEnded;
  }
}
