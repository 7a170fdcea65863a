package io.kamille.core.client;

import io.kamille.core.exchange.ContentSource;
import org.jspecify.annotations.Nullable;

/**
 * Where the content of an answer comes from: held back while the client is slow, told of the end
 * once. Confined to its loop.
 */
public final class ReplySource {

  private @Nullable ContentSource source;

  /** Content comes from here. */
  public void open(ContentSource source) {
    this.source = source;
  }

  /** The client is slow. */
  public void pause() {
    if (source != null) {
      source.pause();
    }
  }

  /** The client takes its answer again. */
  public void resume() {
    if (source != null) {
      source.resume();
    }
  }

  /** The source, if there is one that was not told of the end. It is told nothing from now on. */
  public @Nullable ContentSource release() {
    ContentSource asked = source;
    source = null;
    return asked;
  }
}
