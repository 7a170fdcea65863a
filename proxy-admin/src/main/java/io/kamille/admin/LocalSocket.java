package io.kamille.admin;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.Closeable;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * The API on a socket file that only this user and root can connect to: the way back in when no
 * token is at hand. Any thread.
 */
final class LocalSocket implements Closeable {

  /*
   * The socket is bound in a directory that nobody else may enter, made private, and then moved to
   * its name, so that there is no moment at which others could connect. It takes the place of one
   * that an earlier process left.
   */
  private static final long STOP_MILLIS = 2000;

  private final Channel listener;
  private final Path file;
  private final @Nullable Object key;

  private LocalSocket(Channel listener, Path file) throws IOException {
    this.listener = listener;
    this.file = file;
    this.key = key(file);
  }

  /**
   * Begins to listen.
   *
   * @throws IOException if the file cannot be made
   */
  static LocalSocket open(Path file, EventLoopGroup group, ChannelHandler connections)
      throws IOException {
    Path directory =
        Files.createTempDirectory(
            file.toAbsolutePath().getParent(),
            ".",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Path draft = directory.resolve("s");
    try {
      ChannelFuture bound =
          new ServerBootstrap()
              .group(group)
              .channel(NioServerDomainSocketChannel.class)
              .childHandler(connections)
              .bind(UnixDomainSocketAddress.of(draft))
              .awaitUninterruptibly();
      if (!bound.isSuccess()) {
        throw new IOException(file + ": " + bound.cause().getMessage(), bound.cause());
      }
      Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-------"));
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return new LocalSocket(bound.channel(), file);
    } finally {
      Files.deleteIfExists(draft);
      Files.delete(directory);
    }
  }

  private static @Nullable Object key(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  /** Stops listening, and removes the file unless another process has taken its name. */
  @Override
  public void close() throws IOException {
    listener.close().awaitUninterruptibly(STOP_MILLIS);
    if (Files.exists(file) && key != null && key.equals(key(file))) {
      Files.delete(file);
    }
  }
}
