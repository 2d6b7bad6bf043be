# The server of Milepost. It starts only with a key, because other machines can reach it:
#
#     docker build -t milepost . && docker run -p 8077:8077 -v milepost:/data -e MILEPOST_API_KEY milepost
FROM python:3.11-slim AS build
COPY . /src
RUN pip install --no-cache-dir --prefix=/install -c /src/constraints.txt '/src[serve]'

FROM python:3.11-slim
COPY --from=build /install /usr/local
RUN useradd --system --create-home --home-dir /data milepost
USER milepost
ENV MILEPOST_CACHE=/data/cache MILEPOST_DB=/data/index
VOLUME /data
EXPOSE 8077
HEALTHCHECK CMD python -c "import urllib.request as r; r.urlopen('http://localhost:8077/ready')"
ENTRYPOINT ["milepost"]
CMD ["serve", "--host", "0.0.0.0"]
