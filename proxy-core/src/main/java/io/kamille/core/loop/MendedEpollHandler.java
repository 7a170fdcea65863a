package io.kamille.core.loop;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Netty's epoll handler with two faults mended, and a call saved. Confined to its loop, but for
 * {@code wakeup}.
 */
final class MendedEpollHandler implements IoHandler {

  /*
   * An interest of NONE: EpollIoHandler 4.2.13 to 4.2.20 answers submit(NONE) with EPOLL_CTL_DEL
   * but still believes the descriptor is registered, so that the next change of interest fails with
   * ENOENT. It happens to every client that closes its side before the answer begins: 113 KB of 6
   * MB were delivered. EPOLLET alone asks for nothing either and keeps the descriptor registered.
   *
   * An event of a predecessor: EpollIoHandler finds whom an event is for by the number of the
   * descriptor. When the first event of a poll closes a socket for which the same poll brought
   * another one, and opens a socket, the kernel gives that the number that has become free, and it
   * gets the other's event. A connection to an origin was read before it was made, reported
   * NotYetConnectedException, and was closed as if the origin had refused it. So what is registered
   * while the events of a poll are handled gets none of them: its own can only come later.
   *
   * A call saved: an accepted socket is registered without interest, and asks to be read right
   * after. So what is asked for first while the events of a poll are handled goes to the kernel when
   * all of them are, with what was asked for since then.
   */

  private static final System.Logger LOG = System.getLogger("kamille.loop");

  private final IoHandler epoll;
  private final List<Registration> newcomers = new ArrayList<>();
  private boolean isPolling;
  private long polls;

  private MendedEpollHandler(IoHandler epoll) {
    this.epoll = epoll;
  }

  static IoHandlerFactory factory(IoHandlerFactory epoll) {
    return new IoHandlerFactory() {
      @Override
      public IoHandler newHandler(ThreadAwareExecutor executor) {
        return new MendedEpollHandler(epoll.newHandler(executor));
      }

      @Override
      public boolean isChangingThreadSupported() {
        return epoll.isChangingThreadSupported();
      }
    };
  }

  @Override
  public void initialize() {
    epoll.initialize();
  }

  @Override
  public int run(IoHandlerContext context) {
    polls++;
    isPolling = true;
    try {
      return epoll.run(context);
    } finally {
      isPolling = false;
      if (!newcomers.isEmpty()) {
        newcomers.forEach(Registration::begin);
        newcomers.clear();
      }
    }
  }

  @Override
  public void prepareToDestroy() {
    epoll.prepareToDestroy();
  }

  @Override
  public void destroy() {
    epoll.destroy();
  }

  @Override
  public IoRegistration register(IoHandle handle) throws Exception {
    EpollIoHandle its = (EpollIoHandle) handle;
    return new Registration(epoll.register(isPolling ? new Newcomer(its) : its), its);
  }

  @Override
  public void wakeup() {
    epoll.wakeup();
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> handleType) {
    return epoll.isCompatible(handleType);
  }

  private final class Registration implements IoRegistration {

    private final IoRegistration epoll;
    private final EpollIoHandle handle;
    private boolean hasBegun;
    private @Nullable IoOps first;

    Registration(IoRegistration epoll, EpollIoHandle handle) {
      this.epoll = epoll;
      this.handle = handle;
    }

    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // Netty's signature
    public <T> T attachment() {
      return epoll.attachment();
    }

    @Override
    public long submit(IoOps ops) {
      IoOps wanted = EpollIoOps.NONE.equals(ops) ? EpollIoOps.EPOLLET : ops;
      if (!hasBegun && isPolling) {
        if (first == null) {
          newcomers.add(this);
        }
        first = wanted;
        return ((EpollIoOps) wanted).value();
      }
      hasBegun = true;
      return epoll.submit(wanted);
    }

    /** Tells the kernel what is asked for by now. */
    private void begin() {
      IoOps wanted = first;
      hasBegun = true;
      first = null;
      if (wanted != null && handle.fd().isOpen() && epoll.isValid()) {
        try {
          epoll.submit(wanted);
        } catch (UncheckedIOException refused) {
          LOG.log(Level.WARNING, "a socket cannot be waited for: {0}", refused.getMessage());
          close();
        }
      }
    }

    private void close() {
      try {
        handle.close();
      } catch (Exception failed) {
        LOG.log(Level.WARNING, "nor can it be closed", failed);
      }
    }

    @Override
    public boolean isValid() {
      return epoll.isValid();
    }

    @Override
    public boolean cancel() {
      begin(); // what epoll never had Netty cannot take out of it without an exception
      return epoll.cancel();
    }
  }

  /** What was registered while the events of a poll were handled. */
  @SuppressWarnings("try") // Netty's signature of close
  private final class Newcomer implements EpollIoHandle {

    private final EpollIoHandle handle;
    private final long bornIn = polls;

    Newcomer(EpollIoHandle handle) {
      this.handle = handle;
    }

    @Override
    public void handle(IoRegistration registration, IoEvent event) {
      if (polls != bornIn) {
        handle.handle(registration, event);
      }
    }

    @Override
    public FileDescriptor fd() {
      return handle.fd();
    }

    @Override
    public void registered() {
      handle.registered();
    }

    @Override
    public void unregistered() {
      handle.unregistered();
    }

    @Override
    public void close() throws Exception {
      handle.close();
    }
  }
}
