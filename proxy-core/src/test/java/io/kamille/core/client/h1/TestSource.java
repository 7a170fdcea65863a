package io.kamille.core.client.h1;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A source that counts what it is told. */
final class TestSource implements ContentSource {

  final AtomicInteger pauses = new AtomicInteger();
  final AtomicInteger resumes = new AtomicInteger();
  final List<Failure> cancelled = new CopyOnWriteArrayList<>();
  volatile boolean paused;

  @Override
  public void pause() {
    paused = true;
    pauses.incrementAndGet();
  }

  @Override
  public void resume() {
    paused = false;
    resumes.incrementAndGet();
  }

  @Override
  public void cancel(Failure why) {
    cancelled.add(why);
  }
}
