// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;

import org.aspectj.weaver.loadtime.Aj;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Loads some test classes a second time, as a JVM with the AspectJ agent does: woven with
 * the aspects of all {@code META-INF/aop.xml}. Such classes may use only public members
 * of the others.
 */
public final class WeavingClassLoader extends ClassLoader {

	private static final String ASPECTS = "META-INF/aop.xml";

	private final Aj weaver = new Aj();

	private final List<Class<?>> types;

	private final String library;

	private WeavingClassLoader(String library, Class<?>... types) {
		super(WeavingClassLoader.class.getClassLoader());
		this.types = List.of(types);
		this.library = library;
	}

	/**
	 * Return a loader that weaves with the aspects of all libraries.
	 */
	public static WeavingClassLoader withAllAspects(Class<?>... types) {
		return new WeavingClassLoader("", types);
	}

	/**
	 * Return a loader that weaves with the aspect for locks only.
	 */
	public static WeavingClassLoader of(Class<?>... types) {
		return new WeavingClassLoader("lock-spring", types);
	}

	/**
	 * Return a loader that weaves with the aspects of Spring only.
	 */
	public static WeavingClassLoader withoutLocks(Class<?>... types) {
		return new WeavingClassLoader("spring-aspects", types);
	}

	/**
	 * Return the woven class.
	 */
	@SuppressWarnings("unchecked")
	public <T> Class<? extends T> woven(Class<T> type) {
		return (Class<? extends T>) ClassUtils.resolveClassName(type.getName(), this);
	}

	/**
	 * Return a new object of the woven class.
	 */
	public <T> T create(Class<T> view, Class<? extends T> type, Object... arguments) {
		try {
			return view.cast(woven(type).getConstructors()[0].newInstance(arguments));
		}
		catch (ReflectiveOperationException ex) {
			ReflectionUtils.handleReflectionException(ex);
			throw new IllegalStateException(ex);
		}
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		synchronized (getClassLoadingLock(name)) {
			Class<?> loaded = findLoadedClass(name);
			if (loaded != null) {
				return loaded;
			}
			boolean weaving = this.types.stream()
				.anyMatch((type) -> name.equals(type.getName()) || name.startsWith(type.getName() + '$'));
			return weaving ? weave(name) : super.loadClass(name, resolve);
		}
	}

	private Class<?> weave(String name) throws ClassNotFoundException {
		try (InputStream file = getResourceAsStream(ClassUtils.convertClassNameToResourcePath(name) + ".class")) {
			if (file == null) {
				throw new ClassNotFoundException(name);
			}
			byte[] compiled = file.readAllBytes();
			byte[] woven = this.weaver.preProcess(name, compiled, this, null);
			byte[] code = (woven != null) ? woven : compiled;
			return defineClass(name, code, 0, code.length);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public Enumeration<URL> getResources(String name) throws IOException {
		List<URL> found = Collections.list(super.getResources(name));
		found.removeIf((url) -> name.equals(ASPECTS) && !url.toString().contains(this.library));
		return Collections.enumeration(found);
	}

}
