package io.kamille.perf.peer;

import io.kamille.perf.load.FloorResponder;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The responder that does nothing but answer. */
public record Floor() implements Peer {

  @Override
  public String name() {
    return "floor";
  }

  @Override
  public @Nullable String missing() {
    return null;
  }

  @Override
  public String version() {
    return "FloorResponder";
  }

  @Override
  public List<String> prepare(Path directory, Place place) {
    return Jvm.command(FloorResponder.class, place.javaOptions(), place.port());
  }

  @Override
  public int warmupSeconds() {
    return Jvm.WARMUP_SECONDS;
  }

  @Override
  public boolean isJava() {
    return true;
  }
}
