package io.kamille.core.content;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCounted;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PumpTest {

  private static final Failure GONE = Failure.of(ErrorType.CLIENT_GONE, "it went");

  private final Windows pieces = new Windows();
  private final Pump pump = new Pump(pieces);
  private final Taker taker = new Taker();

  @Test
  void aPauseHoldsBackTheNextWindowAndTheEnd() {
    pieces.add("a", "b").add("c").end(Pieces.End.COMPLETE);
    taker.onWrite = pump::pause;
    pump.start(taker);
    assertThat(taker.got).as("the window goes as a whole").containsExactly("a", "b");
    pump.resume();
    assertThat(taker.got).containsExactly("a", "b", "c");
    taker.onWrite = () -> {};
    pump.resume();
    assertThat(taker.got).containsExactly("a", "b", "c", "end");
    assertThat(pieces.closes).containsExactly("told");
  }

  @Test
  void aMessageThatBreaksOffIsCutInAPauseToo() {
    pump.start(taker);
    pump.pause();
    pieces.add("a").end(Pieces.End.broken(GONE));
    assertThat(taker.got).containsExactly("it went");
    pump.cancel(GONE);
    assertThat(pieces.closes).containsExactly("told");
  }

  @Test
  void aSinkThatResumesInsideAWriteGetsAllInOrder() {
    pieces.add("a").add("b").add("c").end(Pieces.End.COMPLETE);
    taker.onWrite =
        () -> {
          pump.pause();
          pump.resume();
        };
    pump.start(taker);
    assertThat(taker.got).containsExactly("a", "b", "c", "end");
  }

  @Test
  void whatAWindowStillHasIsFreedWhenTheSinkCancelsInsideAWrite() {
    pieces.add("a", "b", "c");
    taker.onWrite = () -> pump.cancel(GONE);
    pump.start(taker);
    assertThat(taker.got).containsExactly("a");
    assertThat(pieces.all).allMatch(piece -> piece.refCnt() == 0);
    assertThat(pieces.closes).containsExactly("it went");
  }

  @Test
  void anotherSinkMayTakeThePlaceOfOneThatFailsInsideAWrite() {
    Taker second = new Taker();
    pieces.add("a").add("b").end(Pieces.End.COMPLETE);
    taker.onWrite =
        () -> {
          pump.rewind();
          pump.start(second);
        };
    pump.start(taker);
    assertThat(taker.got).containsExactly("a");
    assertThat(second.got).containsExactly("b", "end");
  }

  /** Windows that are there from the beginning, and an end. */
  private static final class Windows implements Pieces {

    private final Queue<List<ByteBuf>> windows = new ArrayDeque<>();
    private final List<ReferenceCounted> all = new ArrayList<>();
    private final List<String> closes = new ArrayList<>();
    private Runnable more = () -> {};
    private @Nullable End end;

    Windows add(String... window) {
      List<ByteBuf> chunks = new ArrayList<>();
      for (String text : window) {
        chunks.add(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
      }
      windows.add(chunks);
      all.addAll(chunks);
      return this;
    }

    void end(End how) {
      end = how;
      more.run();
    }

    @Override
    public void next(Queue<ReferenceCounted> window) {
      List<ByteBuf> next = windows.poll();
      if (next != null) {
        window.addAll(next);
      }
    }

    @Override
    public @Nullable End ending() {
      return end == null || end.why() != null || windows.isEmpty() ? end : null;
    }

    @Override
    public void whenMore(Runnable run) {
      more = run;
    }

    @Override
    public void close(@Nullable Failure why) {
      windows.forEach(window -> window.forEach(ByteBuf::release));
      windows.clear();
      closes.add(why == null ? "told" : why.reason());
    }
  }

  private static final class Taker implements ContentSink {

    private final List<String> got = new ArrayList<>();
    private Runnable onWrite = () -> {};

    @Override
    public void write(ByteBuf chunk) {
      got.add(chunk.toString(StandardCharsets.US_ASCII));
      chunk.release();
      onWrite.run();
    }

    @Override
    public void end(@Nullable Fields trailers) {
      got.add("end");
    }

    @Override
    public void abort(Failure why) {
      got.add(why.reason());
    }
  }
}
