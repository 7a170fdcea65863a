package io.kamille.perf.peer;

import io.kamille.perf.load.Responder;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The responder that does nothing but answer: what Netty, the JVM and the kernel cost here. */
public record Floor() implements Peer {

  @Override
  public String label() {
    return "floor";
  }

  @Override
  public @Nullable String missing() {
    return null;
  }

  @Override
  public String version() {
    return "Responder";
  }

  @Override
  public List<String> prepare(Path directory, Place place) {
    return Jvm.command(Responder.class, List.of("-D" + Responder.BARE + "=true"), place.port());
  }

  @Override
  public boolean isJava() {
    return true;
  }
}
