// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Set;
import java.util.UUID;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Who may start and end processes: the page of this shop, in a browser of this computer.
 * No other page in that browser may, even if its name leads here.
 */
@Component
@Profile("!" + Instances.PROFILE)
class LabAccess implements HandlerInterceptor, WebMvcConfigurer {

	static final String TOKEN_HEADER = "X-Lab-Token";

	static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "::1", "[::1]", "0:0:0:0:0:0:0:1");

	private final String token = UUID.randomUUID().toString();

	private final InetAddress address;

	private final boolean believesHeaders;

	/**
	 * Create the rules.
	 * @param address where the shop listens
	 * @param headers whether headers say where a request comes from
	 */
	LabAccess(@Value("${server.address:0.0.0.0}") InetAddress address,
			@Value("${server.forward-headers-strategy:none}") String headers) {
		this.address = address;
		this.believesHeaders = !headers.equalsIgnoreCase("none");
	}

	@Override
	public void addInterceptors(InterceptorRegistry registry) {
		registry.addInterceptor(this);
	}

	/**
	 * Return what the page needs to know to be obeyed.
	 */
	String token() {
		return this.token;
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		response.setHeader("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'");
		// By the handler, because a path may be written in many ways
		if (handler instanceof HandlerMethod method && method.getBeanType() == LabController.class) {
			String refusal = refusal(request, method.hasMethodAnnotation(WithoutToken.class));
			if (refusal != null) {
				throw new ResponseStatusException(HttpStatus.FORBIDDEN, refusal);
			}
		}
		return true;
	}

	private @Nullable String refusal(HttpServletRequest request, boolean needsNoToken) {
		if (!this.address.isLoopbackAddress()) {
			return "The lab is closed, because this shop serves other computers as well";
		}
		if (this.believesHeaders) {
			return "The lab is closed, because a header may say that a request comes from this computer";
		}
		if (!LOOPBACK.contains(request.getRemoteAddr())) {
			return "The lab obeys only this computer";
		}
		if (!LOOPBACK.contains(request.getServerName())) {
			return "The lab is at http://localhost:%d only, not at http://%s".formatted(request.getServerPort(),
					request.getServerName());
		}
		String given = request.getHeader(TOKEN_HEADER);
		if (!needsNoToken && (given == null || !MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8),
				this.token.getBytes(StandardCharsets.UTF_8)))) {
			return "The header " + TOKEN_HEADER + " does not have the token of this start; load the page again";
		}
		return null;
	}

	/**
	 * Marks what the page asks for before it has the token. Other pages cannot read the
	 * answer.
	 */
	@Retention(RetentionPolicy.RUNTIME)
	@interface WithoutToken {

	}

}
