"""A web service of your own that searches a folder.

pip install . fastapi uvicorn
python examples/fastapi_app.py FOLDER [PORT]
curl 'http://127.0.0.1:8000/search?question=Who+signs+leave'
"""

import sys
from typing import Annotated

import uvicorn
from fastapi import FastAPI, HTTPException, Query

import milepost

folder, port = (*sys.argv[1:], "8000")[:2]
index = milepost.open()
index.add(folder)
app = FastAPI()


@app.get("/search")
def search(question: str, k: Annotated[int, Query(ge=1, le=20)] = 3) -> list[dict[str, object]]:
    """Passages of the folder that answer a question, best first."""
    try:
        passages = index.search(question, k=k)
    except milepost.MilepostError as error:  # such as a question without words
        raise HTTPException(422, str(error)) from error
    return [
        {"document": each.document, "page": each.page, "score": each.score, "text": each.text}
        for each in passages
    ]


uvicorn.run(app, host="127.0.0.1", port=int(port))
