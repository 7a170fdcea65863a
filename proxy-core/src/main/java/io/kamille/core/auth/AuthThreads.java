package io.kamille.core.auth;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The threads that check credentials, and the one that looks at files. Any thread. */
public final class AuthThreads implements AutoCloseable {

  /*
   * A password costs a tenth of a second of a processor. A quarter of them does that, so that
   * guessers leave the rest to the loops. What waits has a limit; more is refused. Tokens cost
   * little and have threads of their own, so that they do not wait behind passwords.
   *
   * A source lives as long as a station has it: a reload that keeps a file keeps what it had last.
   */
  static final int WAITING_PER_THREAD = 64;
  private static final int PROCESSORS_PER_THREAD = 4;
  private static final long LOOK_SECONDS = 1;

  private static final System.Logger LOG = System.getLogger("kamille.auth");

  private final Checks passwords;
  private final Checks tokens;
  private final ScheduledThreadPoolExecutor looks =
      new ScheduledThreadPoolExecutor(1, new DefaultThreadFactory("kamille-auth-files", true));

  @GuardedBy("this")
  private boolean isLooking;

  @GuardedBy("this")
  private @Nullable Verdicts verdicts;

  @GuardedBy("this")
  private final Map<String, WeakReference<AuthSource<?>>> sources = new HashMap<>();

  /** None yet. */
  public AuthThreads() {
    this(Math.max(1, Runtime.getRuntime().availableProcessors() / PROCESSORS_PER_THREAD));
  }

  AuthThreads(int threads) {
    passwords = new Checks(threads, threads * WAITING_PER_THREAD, "kamille-auth-passwords");
    tokens = new Checks(threads, threads * WAITING_PER_THREAD, "kamille-auth-tokens");
  }

  /** What all stations of the process keep. */
  synchronized Verdicts verdicts() {
    if (verdicts == null) {
      verdicts = new Verdicts();
    }
    return verdicts;
  }

  /** Where passwords are checked. */
  Checks passwords() {
    return passwords;
  }

  /** Where tokens are. */
  Checks tokens() {
    return tokens;
  }

  /** The source of that name, which is looked at from now on. Blocks. */
  synchronized <T> AuthSource<T> source(String name, Supplier<AuthSource<T>> opening) {
    WeakReference<AuthSource<?>> reference = sources.get(name);
    @SuppressWarnings("unchecked") // a name says what kind of source it is
    AuthSource<T> present = reference == null ? null : (AuthSource<T>) reference.get();
    AuthSource<T> source = present == null ? opening.get() : present;
    sources.put(name, new WeakReference<>(source));
    source.poll();
    if (!isLooking) {
      isLooking = true;
      looks.scheduleWithFixedDelay(this::poll, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
    }
    return source;
  }

  private synchronized void poll() {
    sources.values().removeIf(reference -> isGone(reference.get()));
  }

  /** Looks at it if it is still there. */
  private static boolean isGone(@Nullable AuthSource<?> source) {
    try {
      if (source != null) {
        source.poll();
      }
    } catch (RuntimeException | Error fault) {
      // What it threw here would be the last look.
      LOG.log(Level.ERROR, "a file of routes[].auth was not looked at", fault);
    }
    return source == null;
  }

  @Override
  public void close() {
    looks.shutdownNow();
    passwords.close();
    tokens.close();
  }
}
