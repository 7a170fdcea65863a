package io.kamille.core.loop;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.util.concurrent.ThreadAwareExecutor;

/**
 * Netty's epoll handler with one fault mended: an interest of NONE is never handed to it. Confined
 * to its loop, but for {@code wakeup}.
 */
final class HalfCloseIoHandler implements IoHandler {

  /*
   * EpollIoHandler 4.2.13 to 4.2.20 answers submit(NONE) with EPOLL_CTL_DEL but still believes the
   * descriptor is registered, so that the next change of interest fails with ENOENT. It happens to
   * every client that closes its side before the answer begins: 113 KB of 6 MB were delivered.
   * EPOLLET alone asks for nothing either and keeps the descriptor registered.
   */

  private final IoHandler epoll;

  private HalfCloseIoHandler(IoHandler epoll) {
    this.epoll = epoll;
  }

  static IoHandlerFactory factory(IoHandlerFactory epoll) {
    return new IoHandlerFactory() {
      @Override
      public IoHandler newHandler(ThreadAwareExecutor executor) {
        return new HalfCloseIoHandler(epoll.newHandler(executor));
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
    return epoll.run(context);
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
    return new Registration(epoll.register(handle));
  }

  @Override
  public void wakeup() {
    epoll.wakeup();
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> handleType) {
    return epoll.isCompatible(handleType);
  }

  private record Registration(IoRegistration epoll) implements IoRegistration {

    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // Netty's signature
    public <T> T attachment() {
      return epoll.attachment();
    }

    @Override
    public long submit(IoOps ops) {
      return epoll.submit(EpollIoOps.NONE.equals(ops) ? EpollIoOps.EPOLLET : ops);
    }

    @Override
    public boolean isValid() {
      return epoll.isValid();
    }

    @Override
    public boolean cancel() {
      return epoll.cancel();
    }
  }
}
